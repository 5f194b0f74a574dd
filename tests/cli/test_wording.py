"""Whoever reads a message on the command line is told an option that exists."""

import argparse
import dataclasses
import re

import pytest

from mien.cli.recipe_options import add_job_arguments
from mien.cli.wording import with_options
from mien.recipe import Recipe


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Recipe)])
def test_every_field_becomes_an_option_that_the_parser_has(name):
    parser = argparse.ArgumentParser()
    add_job_arguments(parser)
    option = re.fullmatch("give (.+) a try", with_options(f"give '{name}' a try"))[1]
    assert option.split()[0] in parser.format_help()


def test_other_quoted_words_stay():
    assert with_options("'half' is not a position, and 'swap' no 'audio codec'") == (
        "'half' is not a position, and 'swap' no 'audio codec'"
    )

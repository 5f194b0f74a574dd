"""Measuring a result: identity, expression, seams, steadiness."""

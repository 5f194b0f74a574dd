"""From a recipe to a result: plan, stages, executor, checkpoints."""

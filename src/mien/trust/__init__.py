"""What a result says about itself, and who may make it: marks, consent, content and policy."""

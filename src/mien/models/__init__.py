"""The bundled networks: catalogue, licences, and one adapter a family."""

"""Settings: shipped defaults, the user's file, the environment."""

"""The program without a screen. No Qt below this line."""

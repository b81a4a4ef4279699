"""The messages of one conversation and their segments, as the view reads them."""

"""Where a message is put together: the composer's frame, what is attached, what is dropped and pasted."""

"""What imports what."""

//! A stream that gives nothing until 1,024 bytes are there: the published code, which added the
//! buffering that it meant to take away.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::Stream;

/// Bytes of a piece.
const PIECE: usize = 1024;

/// Hands over at least 1,024 bytes, or what is left when the inner stream is over.
pub struct Rechunked<S> {
    inner: Pin<Box<S>>,
    held: BytesMut,
    ended: bool,
}

impl<S> Rechunked<S> {
    pub fn new(inner: S) -> Self {
        Self { inner: Box::pin(inner), held: BytesMut::with_capacity(2 * PIECE), ended: false }
    }
}

impl<S, E> Stream for Rechunked<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while self.held.len() < PIECE && !self.ended {
            match self.inner.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(chunk))) => self.held.extend_from_slice(&chunk),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => self.ended = true,
                Poll::Pending => return Poll::Pending,
            }
        }
        if self.held.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(self.held.split().freeze())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::collections::VecDeque;
    use std::task::Waker;

    /// Lengths of the pieces for chunks of these lengths; 0 stands for a socket without bytes. The
    /// pieces end with a 0 wherever the stream itself has none to give.
    fn pieces(script: &[usize]) -> Vec<usize> {
        let mut script: VecDeque<usize> = script.iter().copied().collect();
        let chunks = stream::poll_fn(move |_| match script.pop_front() {
            Some(0) => Poll::Pending,
            Some(length) => Poll::Ready(Some(Ok::<_, ()>(Bytes::from(vec![7; length])))),
            None => Poll::Ready(None),
        });
        let mut stream = Rechunked::new(chunks);
        let mut cx = Context::from_waker(Waker::noop());
        let mut found = Vec::new();
        // More polls than any script here needs.
        for _ in 0..64 {
            match Pin::new(&mut stream).poll_next(&mut cx) {
                Poll::Ready(Some(piece)) => found.push(piece.unwrap().len()),
                Poll::Ready(None) => return found,
                Poll::Pending => found.push(0),
            }
        }
        panic!("the stream does not end: {found:?}");
    }

    #[test]
    fn tokens_wait_until_a_piece_is_full() {
        assert_eq!(pieces(&[100, 0, 900, 0, 100, 0, 10]), [0, 0, 1100, 0, 10]);
    }

    #[test]
    fn more_than_a_piece_is_handed_over_whole() {
        assert_eq!(pieces(&[2500, 1]), [2500, 1]);
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(pieces(&[]), [0; 0]);
        assert_eq!(pieces(&[0]), [0]);
    }
}

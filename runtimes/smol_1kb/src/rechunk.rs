//! A stream cut into pieces of at most so many bytes that waits for no piece to fill.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::Stream;

/// Hands over a piece, or what it has as soon as the inner stream is pending or over.
pub struct Rechunked<S> {
    inner: Pin<Box<S>>,
    piece: usize,
    held: BytesMut,
    ended: bool,
}

impl<S> Rechunked<S> {
    /// `piece` is the most bytes of one.
    pub fn new(inner: S, piece: usize) -> Self {
        let held = BytesMut::with_capacity(2 * piece);
        Self { inner: Box::pin(inner), piece, held, ended: false }
    }
}

impl<S, E> Stream for Rechunked<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while self.held.len() < self.piece && !self.ended {
            match self.inner.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(chunk))) => self.held.extend_from_slice(&chunk),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => self.ended = true,
                // What is held must not wait for a socket that is silent. The waker is registered
                // with the inner stream and may wake this one in vain, which is harmless.
                Poll::Pending if self.held.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        if self.held.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.held.len().min(self.piece);
        Poll::Ready(Some(Ok(self.held.split_to(length).freeze())))
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
        pieces_of(1024, script)
    }

    fn pieces_of(piece: usize, script: &[usize]) -> Vec<usize> {
        let mut script: VecDeque<usize> = script.iter().copied().collect();
        let chunks = stream::poll_fn(move |_| match script.pop_front() {
            Some(0) => Poll::Pending,
            Some(length) => Poll::Ready(Some(Ok::<_, ()>(Bytes::from(vec![7; length])))),
            None => Poll::Ready(None),
        });
        let mut stream = Rechunked::new(chunks, piece);
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
    fn what_is_there_is_handed_over_when_the_socket_is_silent() {
        assert_eq!(pieces(&[100, 0, 50, 60, 0, 0, 10]), [100, 110, 0, 10]);
    }

    #[test]
    fn more_than_a_piece_is_cut() {
        assert_eq!(pieces(&[2500]), [1024, 1024, 452]);
        assert_eq!(pieces(&[1000, 1000, 0]), [1024, 976]);
        assert_eq!(pieces_of(100, &[250, 0, 30]), [100, 100, 50, 30]);
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(pieces(&[]), [0; 0]);
        assert_eq!(pieces(&[0]), [0]);
    }
}

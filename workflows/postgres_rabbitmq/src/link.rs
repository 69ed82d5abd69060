//! A connection to the broker: messages in, messages out until the broker has confirmed them.
//!
//! Each has a runtime of its own that runs only while its thread waits for the broker, as a worker
//! process would have it.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::thread::sleep;
use std::time::Duration;

use amqprs::callbacks::ChannelCallback;
use amqprs::channel::{
    BasicAckArguments, BasicConsumeArguments, BasicPublishArguments, BasicQosArguments, Channel,
    ConfirmSelectArguments, ConsumerMessage, QueueDeclareArguments,
};
use amqprs::connection::{Connection, OpenConnectionArguments};
use amqprs::error::Error;
use amqprs::{
    Ack, BasicProperties, Cancel, CloseChannel, FieldTable, FieldValue, LongStr, Nack, Return,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use workflows_database as database;
use workflows_kit::RunError;

use crate::broker::{HEARTBEAT_S, Handle};

/// Steps that may be done: their messages are what `messages` in `schema.sql` makes.
pub(crate) const STEPS: &str = "steps";
/// Tasks that are complete, by number.
pub(crate) const COMPLETE: &str = "complete";

/// A broker that is well answers within milliseconds; one whose disk or memory is full not at all.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two attempts to connect, of which there are this many.
const LOOK: Duration = Duration::from_millis(20);
const ATTEMPTS: u32 = 100;

/// Who reads from a queue, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reads {
    /// Steps: one at a time, which is the broker's again until it is acknowledged.
    Steps,
    /// Completions: as they come, and gone when they were sent.
    Complete,
}

/// Why a connection is of no use any more.
#[derive(Debug)]
pub(crate) enum Lost {
    /// It is closed, or about to be: another can be opened.
    Closed(String),
    /// The broker confirms nothing, and would do so on no other.
    Silent,
}

/// A connection that can be opened again when it is lost. What was read and not acknowledged goes
/// to another then, and what was not confirmed may have arrived or not.
pub(crate) struct Link {
    /// What was recorded is there, and not in the broker.
    database: database::Handle,
    handle: Handle,
    reads: Reads,
    runtime: Runtime,
    open: Option<Open>,
}

struct Open {
    channel: Channel,
    messages: UnboundedReceiver<ConsumerMessage>,
    confirmations: UnboundedReceiver<Confirmation>,
    published: u64,
    // Closes when dropped, and the channel before it.
    _connection: Connection,
}

/// A message of a queue.
#[derive(Debug)]
pub(crate) struct Delivery {
    tag: u64,
    /// It was given to somebody before, who was lost.
    pub(crate) redelivered: bool,
    pub(crate) body: String,
}

/// Of a published message, by its number on the channel; or of all up to it.
struct Confirmation {
    is_taken: bool,
    tag: u64,
    all_before: bool,
}

impl Link {
    /// Opens a connection and makes the queues, where they are not there yet.
    ///
    /// # Errors
    /// The broker is lost.
    pub(crate) fn open(
        handles: &(database::Handle, Handle),
        reads: Reads,
    ) -> Result<Self, RunError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(RunError::setup)?;
        let (database, handle) = handles.clone();
        let mut link = Self { database, handle, reads, runtime, open: None };
        link.reopen(&Lost::Closed("it takes no connection".to_owned()))?;
        Ok(link)
    }

    /// Opens it again.
    ///
    /// # Errors
    /// The broker has ended, takes no connection, or answers nothing.
    pub(crate) fn reopen(&mut self, lost: &Lost) -> Result<(), RunError> {
        self.close();
        let mut last = lost.to_string();
        let attempts = if matches!(lost, Lost::Silent) { 0 } else { ATTEMPTS };
        for _ in 0..attempts {
            let opening = async { timeout(PATIENCE, Open::new(&self.handle, self.reads)).await };
            match self.runtime.block_on(opening) {
                Ok(Ok(open)) => {
                    self.open = Some(open);
                    return Ok(());
                }
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => {
                    last = "it does not answer".to_owned();
                    break;
                }
            }
            if let Some(ended) = self.handle.ended() {
                last = ended;
                break;
            }
            sleep(LOOK);
        }
        Err(self.database.failed(&format!("the broker is lost: {last}")))
    }

    /// Waits for a message; nothing when none came for a while.
    ///
    /// # Errors
    /// [`Lost`].
    pub(crate) fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, Lost> {
        let open = self.open.as_mut().ok_or_else(closed)?;
        let message = self.runtime.block_on(async { timeout(wait, open.messages.recv()).await });
        match message {
            Err(_) => Ok(None),
            Ok(None) => Err(closed()),
            Ok(Some(message)) => Delivery::of(message).map(Some).ok_or_else(closed),
        }
    }

    /// Publishes messages, each to a queue, and waits until the broker has confirmed all.
    ///
    /// # Errors
    /// [`Lost`]; each message may have arrived or not.
    pub(crate) fn publish(&mut self, messages: Vec<(&str, String)>) -> Result<(), Lost> {
        let open = self.open.as_mut().ok_or_else(closed)?;
        self.runtime.block_on(async { open.publish(messages).await })
    }

    /// Says that a message is dealt with.
    ///
    /// # Errors
    /// [`Lost`]; the message goes to another.
    pub(crate) fn acknowledge(&mut self, delivery: &Delivery) -> Result<(), Lost> {
        let open = self.open.as_mut().ok_or_else(closed)?;
        let done = BasicAckArguments::new(delivery.tag, false);
        Ok(self.runtime.block_on(async {
            open.channel.basic_ack(done).await?;
            // The task that writes has its turn, for this may be the last time that any has.
            tokio::task::yield_now().await;
            Ok::<_, Error>(())
        })?)
    }

    fn close(&mut self) {
        // Dropped, channel and connection start tasks that close them.
        let _inside = self.runtime.enter();
        self.open = None;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

impl Open {
    async fn new(handle: &Handle, reads: Reads) -> Result<Self, Error> {
        let mut who =
            OpenConnectionArguments::new("127.0.0.1", handle.port, "lab", &handle.password);
        let who = who.virtual_host(&handle.host).heartbeat(HEARTBEAT_S);
        let connection = Connection::open(who).await?;
        let channel = connection.open_channel(None).await?;
        let (sender, confirmations) = unbounded_channel();
        channel.register_callback(Confirmations(sender)).await?;
        channel.confirm_select(ConfirmSelectArguments::default()).await?;
        for queue in [STEPS, COMPLETE] {
            let mut durable = QueueDeclareArguments::durable_client_named(queue);
            channel.queue_declare(durable.arguments(classic()).finish()).await?;
        }
        let (queue, is_acknowledged) = match reads {
            Reads::Steps => (STEPS, true),
            Reads::Complete => (COMPLETE, false),
        };
        channel.basic_qos(BasicQosArguments::new(0, 1, false)).await?;
        let mut consume = BasicConsumeArguments::new(queue, "");
        let consume = consume.manual_ack(is_acknowledged).finish();
        let (_, messages) = channel.basic_consume_rx(consume).await?;
        Ok(Self { channel, messages, confirmations, published: 0, _connection: connection })
    }

    async fn publish(&mut self, messages: Vec<(&str, String)>) -> Result<(), Lost> {
        let mut unconfirmed = BTreeSet::new();
        for (queue, body) in messages {
            let properties = BasicProperties::default().with_persistence(true).finish();
            let to = BasicPublishArguments::new("", queue);
            self.channel.basic_publish(properties, body.into_bytes(), to).await?;
            self.published += 1;
            unconfirmed.insert(self.published);
        }
        while !unconfirmed.is_empty() {
            let next = timeout(PATIENCE, self.confirmations.recv()).await;
            let next = next.map_err(|_| Lost::Silent)?;
            let Confirmation { is_taken, tag, all_before } = next.ok_or_else(closed)?;
            if !is_taken {
                return Err(Lost::Closed("it refuses a message".to_owned()));
            }
            if all_before {
                unconfirmed = unconfirmed.split_off(&(tag + 1));
            } else {
                unconfirmed.remove(&tag);
            }
        }
        Ok(())
    }
}

impl Delivery {
    fn of(message: ConsumerMessage) -> Option<Self> {
        let deliver = message.deliver?;
        let body = String::from_utf8(message.content?).ok()?;
        Some(Self { tag: deliver.delivery_tag(), redelivered: deliver.redelivered(), body })
    }
}

impl From<Error> for Lost {
    fn from(error: Error) -> Self {
        Self::Closed(error.to_string())
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(how) => f.write_str(how),
            Self::Silent => f.write_str("it confirms nothing; is its disk or memory full?"),
        }
    }
}

fn closed() -> Lost {
    Lost::Closed("the connection is closed".to_owned())
}

/// The kind of queue that is kept on one node, whatever the broker's default is.
fn classic() -> FieldTable {
    let mut arguments = FieldTable::new();
    let text = |text: &str| LongStr::try_from(text).expect("a few letters are a text");
    let name = "x-queue-type".try_into().expect("a few letters are a name");
    arguments.insert(name, FieldValue::from(text("classic")));
    arguments
}

/// Computer on what the broker says of published messages.
struct Confirmations(UnboundedSender<Confirmation>);

type Said<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Confirmations {
    fn say<'a>(&self, is_taken: bool, tag: u64, all_before: bool) -> Said<'a, ()> {
        // Whoever published may have given up the connection.
        let _ = self.0.send(Confirmation { is_taken, tag, all_before });
        Box::pin(async {})
    }
}

/// As the attribute `async_trait`, with which the trait is written, would write it.
impl ChannelCallback for Confirmations {
    fn close<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        _: CloseChannel,
    ) -> Said<'all, Result<(), Error>>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        Box::pin(async { Ok(()) })
    }

    fn cancel<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        _: Cancel,
    ) -> Said<'all, Result<(), Error>>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        Box::pin(async { Ok(()) })
    }

    fn flow<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        active: bool,
    ) -> Said<'all, Result<bool, Error>>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        Box::pin(async move { Ok(active) })
    }

    fn publish_ack<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        ack: Ack,
    ) -> Said<'all, ()>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        self.say(true, ack.delivery_tag(), ack.mutiple())
    }

    fn publish_nack<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        nack: Nack,
    ) -> Said<'all, ()>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        self.say(false, nack.delivery_tag(), nack.multiple())
    }

    fn publish_return<'life0, 'life1, 'all>(
        &'life0 mut self,
        _: &'life1 Channel,
        _: Return,
        _: BasicProperties,
        _: Vec<u8>,
    ) -> Said<'all, ()>
    where
        'life0: 'all,
        'life1: 'all,
        Self: 'all,
    {
        Box::pin(async {})
    }
}

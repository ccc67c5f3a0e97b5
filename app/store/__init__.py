"""The conversations on disk: chats, versions of messages, reports on answers, presets. Imports neither Qt nor
torch."""

from app.store.dates import by_date as by_date
from app.store.deletion import DeletedMessages as DeletedMessages
from app.store.errors import BadImport as BadImport
from app.store.errors import NotInStore as NotInStore
from app.store.errors import StoreDamaged as StoreDamaged
from app.store.errors import StoreError as StoreError
from app.store.errors import StoreFull as StoreFull
from app.store.errors import StoreLocked as StoreLocked
from app.store.errors import StoreNewer as StoreNewer
from app.store.errors import StoreNotWritable as StoreNotWritable
from app.store.records import AnswerReport as AnswerReport
from app.store.records import AttachedFile as AttachedFile
from app.store.records import ChatLine as ChatLine
from app.store.records import ChatSettings as ChatSettings
from app.store.records import Folder as Folder
from app.store.records import Hit as Hit
from app.store.records import ModelPair as ModelPair
from app.store.records import Passage as Passage
from app.store.records import Preset as Preset
from app.store.records import Role as Role
from app.store.records import SavedOptions as SavedOptions
from app.store.records import State as State
from app.store.records import StoredCall as StoredCall
from app.store.records import StoredMessage as StoredMessage
from app.store.records import UnsentMessage as UnsentMessage
from app.store.records import WholeChat as WholeChat
from app.store.records import WholeFile as WholeFile
from app.store.store import Store as Store
from app.store.tree import ShownMessage as ShownMessage
from app.store.tree import to_send as to_send
from app.store.under_way import AnswerUnderWay as AnswerUnderWay

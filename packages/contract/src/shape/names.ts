/** Name that stands for all keys of an object whose keys are data, such as ids. */
export const ANY_KEY = '*'

/** Tells the keys that are names of fields from those that are data. Returns the name, or {@link ANY_KEY}. */
export type KeyOf = (key: string) => string

const NAME = /^[A-Za-z_$@][\w$.-]{0,63}$/
const DATA = /\d{4}/

/** For events that may be read by whoever reads the result: any key in the form of a name is one. */
export function nameLike(key: string): string {
  return NAME.test(key) && !DATA.test(key) ? key : ANY_KEY
}

/**
 * For events that must not be read: a key is a name if it is `known`, or made of {@link WORDS} only. A person's name as a
 * key looks like a field, so its form tells nothing.
 */
export function knownNames(known: Iterable<string> = []): KeyOf {
  const names = new Set(known)
  return key => (names.has(key) || (nameLike(key) !== ANY_KEY && isOfWords(key)) ? key : ANY_KEY)
}

function isOfWords(key: string): boolean {
  const words = key
    .replace(/([a-z])(?=[A-Z])/g, '$1_')
    .toLowerCase()
    .split(/[_$@.\d-]+/)
  if (!words.every(word => WORDS.has(word))) return false
  return !words.some(word => GIVEN.has(word)) || words.some(word => word !== '' && !isOfNames(word))
}

function isOfNames(word: string): boolean {
  return GIVEN.has(word) || FAMILY.has(word)
}

/** Words of {@link WORDS} that are given names: `max_retries` is a field, and `max`, `max_day` may be somebody. */
const GIVEN: ReadonlySet<string> = new Set(['ai', 'lat', 'lon', 'max', 'min', 'page', 'trace'])
/** Words of {@link WORDS} that are family names. Alone they are fields: `price`, `key`. */
const FAMILY: ReadonlySet<string> = new Set(
  'brand call close day days field fields key keys link price quick read rule short street to week weeks'.split(
    ' ',
  ),
)
/**
 * Words of which platforms make the names of fields, without given names such as `mark` or `will`. The empty one stands
 * before a leading `_` or after a trailing digit.
 */
const WORDS: ReadonlySet<string> = new Set(
  ` accepted access account action active actor added address agent ai alias all allowed amount and answer answered api app
  application archived area assigned assignee at attachment attachments attempt attempts attribute attributes audio author
  auto avatar balance base batch billing birthday block blocked body bot bounce bounced brand broadcast browser bulk business
  button buttons by bytes call callback caller calls campaign campaigns cancelled canceled caption cards cart catalog category
  cause cc bcc changed changes channel channels chat checksum city class click clicked clicks client close closed code codes
  color column comment comments company completed component components config connection consent contact contacts content
  context conversation conversations cost count counter country create created creator csat currency current custom customer
  customers data date day days deal default deleted delivered delivery department description destination details device
  digest direction disabled display distance document domain done draft due duration each edited email emails emoji enabled
  encoding end ended endpoint endpoints ended entry environment error errors event events expired expires extension external
  extra failed failure fallback field fields file filename files filter final first flag flags flow folder footer format
  forwarded from full function gender group groups handle handled handler has hash header headers height hidden history host
  hour hours href html human icon id identifier ids image images in inbound inbox index info initiated input interactive
  internal invoice invoices ip is item items job joined json key keys kind label labels language last lat latitude lead leads
  left length level limit line link links list lists locale location lon longitude lng mail max media medium member members
  mentions menu merged message messages meta metadata method mime min minute minutes missed mobile mode model modified month
  muted name names new next nickname node note notes notification null number numbers object of offset on opened operator
  opt option options order orders org organization origin original os out outbound outcome owner page parameter parameters
  parent part participant participants parts path paused payload payment payments percent period permission permissions
  person phone phones picture pinned pipeline plan platform policy position postal postback prefix preview previous price
  priority private product products profile progress project properties property provider public purchase quantity queue
  queued quick quoted range rate rating ratio reaction reactions read reads reason received receiver recipient recipients
  recording records ref reference referral region rejected related remaining removed reopened replied replies reply report
  request requested required resolution resolved resolver resource resources response result results resumed retries retry
  revenue role room rows rule rules sandbox scheduled seen scheme scope score scores second seconds secret section segment segments
  selected send sender sends sent sentiment sequence series service session sessions set settings shared shipping shop
  short signature size sizes sku skipped snippet source spam stage start started state states status step sticker stopped
  store street string sub subject subscribed subscriber subscription subtotal subtype successful suffix suggested summary
  support survey system tag tags target task tax team teams template templates temporary tenant test text thread thumbnail
  ticket tickets time timeout times timestamp timezone tip title to token topic total totals trace tracking transcript
  transfer transferred translation trigger triggered true try type types unique unit units unread unsubscribed until update
  updated upload uploaded url urls usage user username users utm value values variable variables variant vat vendor version
  via video views visible visitor voice volume waiting webhook webhooks website week weight whatsapp sms width window with
  workflow workspace workspaces year zip zone`.split(/\s+/),
)

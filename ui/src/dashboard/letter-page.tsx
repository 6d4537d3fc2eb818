import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type {
  EventRow,
  Overview,
  Role,
  VerbView,
  Whereabouts,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { ApiError, call } from '../kit/api.ts'
import { Badge, Source, type Tone } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { JsonView } from '../kit/json-view.tsx'
import { useKeys } from '../kit/keys.ts'
import { Ago } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { go, hrefOf } from '../kit/route.ts'
import { visible } from '../kit/text.ts'
import { useTitle } from '../kit/title.ts'
import { toast } from '../kit/toasts.tsx'
import { changeLetters, isChanging, runOne } from './change-letters.ts'
import { EmulatorLink } from './emulator-link.tsx'
import { ShareLetter } from './share-letter.tsx'
import { Trace } from './trace.tsx'
import { inThirdPerson, keyOf, letterVerbs } from './verbs.ts'

interface LetterPageProps {
  readonly letterKey: string
  readonly role: Role
  /** Where an event's trace and its deliveries are. */
  readonly links: Links
}

type Links = Pick<Overview, 'traceUrl' | 'emulatorUrl'>

export function LetterPage({ letterKey, role, links }: LetterPageProps) {
  const isFollowed = useSignal(false)
  const isOver = useSignal(false)
  const letter = useResource(
    signal => call<EventRow>(`api/letters/${letterKey}`, { signal }),
    isFollowed.value || isOver.value ? undefined : RELOAD_MS,
  )
  /** Result of the last redrive from this page. */
  const fate = useSignal<Whereabouts['state'] | undefined>(undefined)
  const error = letter.error.value
  useTitle(visible(letter.data.value?.id ?? ''))
  const isGone = error instanceof ApiError && error.status === 404
  useEffect(() => {
    if (isGone) isOver.value = true
  }, [isGone])
  const change = async (verb: VerbView) => {
    fate.value = undefined
    if (verb.runsHandlers === true) isFollowed.value = await runOne(verb, letterKey)
    else if (await changeLetters(verb, [letterKey])) letter.reload()
  }
  const settle = (state: Whereabouts['state']) => {
    isFollowed.value = false
    fate.value = state
    isOver.value = state !== 'dead'
    if (state === 'dead') letter.reload()
    const id = visible(letter.data.peek()?.id ?? 'The letter')
    toast(state === 'dead' ? 'bad' : 'good', `${id}: redriven, and ${FATE[state][1]}.`)
  }
  const canChange = role === 'admin' && error === undefined && !isFollowed.value && !isOver.value
  const press = (verb: VerbView) => () => {
    if (canChange && !isChanging()) void change(verb)
  }
  const own = letterVerbs()
  useKeys(
    { u: () => go(['letters']), ...Object.fromEntries(own.map(verb => [keyOf(verb), press(verb)])) },
    {
      u: 'goes up to the list',
      ...Object.fromEntries(own.map(verb => [keyOf(verb), `${inThirdPerson(verb)} the letter`])),
    },
  )
  return (
    <>
      <p>
        <a href={hrefOf(['letters'])}>Dead letters</a>
      </p>
      {isFollowed.value ? (
        <Follow letterKey={letterKey} onSettled={settle} />
      ) : (
        fate.value !== undefined && <Verdict state={fate.value} />
      )}
      {isGone && fate.value === undefined && !isFollowed.value && (
        <p class="note" role="status">
          This dead letter no longer exists.
        </p>
      )}
      {!isGone && <Failure error={error} retry={letter.reload} isStale={letter.data.value !== undefined} />}
      {letter.data.value === undefined ? (
        <h1 class="visually-hidden">Dead letter</h1>
      ) : (
        <Letter letter={letter.data.value} links={links} actions={canChange ? change : undefined} />
      )}
    </>
  )
}

interface LetterProps {
  readonly letter: EventRow
  readonly links: Links
  readonly actions: ((verb: VerbView) => Promise<void>) | undefined
}

function Letter({ letter, links: { traceUrl, emulatorUrl }, actions }: LetterProps) {
  const {
    id,
    type,
    namespace,
    attempts,
    receivedAt,
    failedAt = 0,
    reason = '',
    stack,
    body,
    sealed,
    traceId,
  } = letter
  return (
    <>
      <div class="bar">
        <h1 class="mono">{visible(id)}</h1>
        {actions !== undefined && (
          <div class="bar push">
            {letterVerbs().map(verb => (
              <button
                key={verb.name}
                type="button"
                class={verb.changes === 'for good' ? 'danger' : 'primary'}
                disabled={isChanging()}
                onClick={() => void actions(verb)}
              >
                {verb.words.label}
              </button>
            ))}
          </div>
        )}
      </div>
      <dl class="facts">
        <dt>Type</dt>
        <dd>{visible(type)}</dd>
        {namespace !== '' && <dt>Namespace</dt>}
        {namespace !== '' && <dd>{visible(namespace)}</dd>}
        <dt>Received</dt>
        <dd>
          <Ago at={receivedAt} />
        </dd>
        <dt>Failed</dt>
        <dd>
          <Ago at={failedAt} />, after {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        </dd>
        {traceId !== undefined && <dt>Trace</dt>}
        {traceId !== undefined && (
          <dd>
            <Trace id={traceId} url={traceUrl} />
          </dd>
        )}
        {emulatorUrl !== undefined && <dt>Sent</dt>}
        {emulatorUrl !== undefined && (
          <dd>
            <EmulatorLink emulatorUrl={emulatorUrl} id={id}>
              Deliveries in the emulator
            </EmulatorLink>
          </dd>
        )}
      </dl>
      <ShareLetter letter={letter} />
      <section class="stack" aria-labelledby="reason">
        <h2 id="reason">Last error</h2>
        <Source label="Error" text={reason} />
        {stack !== undefined && (
          <details>
            <summary>Stack</summary>
            <Source label="Stack" text={stack} />
          </details>
        )}
      </section>
      <section class="stack" aria-labelledby="body">
        <h2 id="body">Body</h2>
        {sealed === true ? (
          <p class="quiet">
            This letter is sealed, and this process has no key: body and error cannot be read or searched. The
            dashboard that your app mounts with its sealed inbox shows them.
          </p>
        ) : body === undefined ? (
          <p class="quiet">Bodies are hidden. The option `bodies` shows them.</p>
        ) : (
          <JsonView text={body} />
        )}
      </section>
    </>
  )
}

const FATE: Readonly<Record<Whereabouts['state'], readonly [Tone, string]>> = {
  pending: ['wait', 'waiting for its attempt'],
  active: ['wait', 'its handlers are running'],
  dead: ['bad', 'failed again'],
  handled: ['good', 'handled'],
  gone: ['good', 'handled, or no longer in the inbox'],
  unknown: ['idle', 'no longer in the inbox: discarded or forgotten'],
  unclear: ['idle', 'no longer a dead letter; this inbox cannot report its state'],
}
const POLL_MS = 1000
const RELOAD_MS = 5000

/** Shows a redriven letter's state until it is final. */
function Follow({
  letterKey,
  onSettled,
}: {
  readonly letterKey: string
  readonly onSettled: (state: Whereabouts['state']) => void
}) {
  const fate = useResource(signal => call<Whereabouts>(`api/events/${letterKey}`, { signal }), POLL_MS)
  const state = fate.data.value?.state
  useEffect(() => {
    if (state !== undefined && state !== 'pending' && state !== 'active') onSettled(state)
  }, [state])
  return <Verdict state={state ?? 'pending'} />
}

function Verdict({ state }: { readonly state: Whereabouts['state'] }) {
  const [tone, text] = FATE[state]
  return (
    <p class="note" role="status">
      Redriven: <Badge tone={tone}>{text}</Badge>
    </p>
  )
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EventRow, Role, Whereabouts } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { ApiError, call } from '../kit/api.ts'
import { Badge, type Tone } from '../kit/badge.tsx'
import { CopyButton } from '../kit/copy-button.tsx'
import { Failure } from '../kit/failure.tsx'
import { JsonView } from '../kit/json-view.tsx'
import { Ago } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { type Change, changeLetters } from './change-letters.ts'

export function LetterPage({ letterKey, role }: { readonly letterKey: string; readonly role: Role }) {
  const letter = useResource(signal => call<EventRow>(`api/letters/${letterKey}`, { signal }))
  const followed = useSignal(false)
  const error = letter.error.value
  const change = async (action: Change) => {
    if (!(await changeLetters(action, [letterKey]))) return
    if (action === 'redrive') followed.value = true
    else letter.reload()
  }
  return (
    <>
      <p>
        <a href={hrefOf(['letters'])}>Dead letters</a>
      </p>
      {error instanceof ApiError && error.status === 404 ? (
        <h1>This dead letter is no longer there</h1>
      ) : (
        <Failure error={error} retry={letter.reload} />
      )}
      {letter.data.value !== undefined && (
        <Letter
          letter={letter.data.value}
          actions={role === 'admin' && error === undefined && !followed.value ? change : undefined}
        />
      )}
      {followed.value && <Follow letterKey={letterKey} />}
    </>
  )
}

interface LetterProps {
  readonly letter: EventRow
  readonly actions: ((action: Change) => Promise<void>) | undefined
}

function Letter({ letter, actions }: LetterProps) {
  const { id, type, namespace, attempts, receivedAt, failedAt = 0, reason = '', stack, body } = letter
  return (
    <>
      <div class="bar">
        <h1 class="mono">{id}</h1>
        {actions !== undefined && (
          <div class="bar push">
            <button type="button" class="primary" onClick={() => void actions('redrive')}>
              Redrive
            </button>
            <button type="button" class="danger" onClick={() => void actions('discard')}>
              Discard
            </button>
          </div>
        )}
      </div>
      <dl class="facts">
        <dt>Type</dt>
        <dd>{type}</dd>
        {namespace !== '' && <dt>Namespace</dt>}
        {namespace !== '' && <dd>{namespace}</dd>}
        <dt>Received</dt>
        <dd>
          <Ago at={receivedAt} />
        </dd>
        <dt>Failed</dt>
        <dd>
          <Ago at={failedAt} />, after {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        </dd>
      </dl>
      <section class="stack" aria-labelledby="reason">
        <h2 id="reason">Last error</h2>
        <pre class="source">{reason}</pre>
        {stack !== undefined && (
          <details>
            <summary>Stack</summary>
            <pre class="source">{stack}</pre>
          </details>
        )}
      </section>
      <section class="stack" aria-labelledby="body">
        <div class="bar">
          <h2 id="body">Body</h2>
          {body !== undefined && (
            <div class="push">
              <CopyButton label="Copy" text={() => body} />
            </div>
          )}
        </div>
        {body === undefined ? (
          <p class="quiet">Bodies are hidden here. The option `bodies` shows them.</p>
        ) : (
          <JsonView text={body} />
        )}
      </section>
    </>
  )
}

const FATE: Readonly<Record<Whereabouts['state'], readonly [Tone, string]>> = {
  pending: ['wait', 'waits for its attempt'],
  active: ['wait', 'its handlers are running'],
  dead: ['bad', 'failed again'],
  gone: ['good', 'handled, or no longer in the inbox'],
}
const POLL_MS = 1000

/** What became of a letter after it was redriven. */
function Follow({ letterKey }: { readonly letterKey: string }) {
  const fate = useResource(signal => call<Whereabouts>(`api/events/${letterKey}`, { signal }), POLL_MS)
  useEffect(() => fate.reload(), [])
  const [tone, text] = FATE[fate.data.value?.state ?? 'pending']
  return (
    <p class="note" role="status">
      Redriven: <Badge tone={tone}>{text}</Badge>
    </p>
  )
}

import { codes } from 'virtual:reply-codes'
import type { AttemptView as Attempt } from '../../../packages/emulator/src/api/delivery-view.ts'
import { Badge } from '../kit/badge.tsx'
import { JsonView } from '../kit/json-view.tsx'
import { Ago, spanOf } from '../kit/now.tsx'
import { emulatorNow } from './emulator-clock.ts'

/** One attempt: what came back and, with `advise`, what that means, and on request all that was sent. */
export function AttemptView({ attempt, advise }: { readonly attempt: Attempt; readonly advise: boolean }) {
  const { number, at, durationMs, acknowledged, status, code, error, retryAfterMs, faults } = attempt
  return (
    <li class={acknowledged ? 'good' : 'bad'}>
      <div class="bar">
        <strong>Attempt {number}</strong>
        <span class="mono">{status === null ? (error ?? 'no reply') : `${status} ${code ?? ''}`}</span>
        {faults.map(fault => (
          <Badge key={fault} tone="wait">
            fault: {fault}
          </Badge>
        ))}
        <span class="push small quiet">
          <Ago at={Date.parse(at)} from={emulatorNow} />, took {spanOf(durationMs)}
        </span>
      </div>
      {retryAfterMs !== null && <div class="small">Asked to wait {spanOf(retryAfterMs)}.</div>}
      {advise && <Advice code={code} />}
      <details>
        <summary>Request and reply</summary>
        <Exchange attempt={attempt} />
      </details>
    </li>
  )
}

/** Cause and fix of a refusal, from the documentation. */
function Advice({ code }: { readonly code: string | null }) {
  const known = code === null || !Object.hasOwn(codes, code) ? undefined : codes[code]
  if (known === undefined) return null
  return (
    <div class="small">
      {known.cause} {known.fix}
    </div>
  )
}

function Exchange({ attempt }: { readonly attempt: Attempt }) {
  const { url, requestHeaders, requestBody, replyHeaders, replyBody, truncated } = attempt
  return (
    <div class="stack">
      <pre class="source">
        {`POST ${url}\n${Object.entries(requestHeaders)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}`}
      </pre>
      {requestBody !== null && (
        <>
          <p class="small">Sent instead of the event, because of a fault:</p>
          <pre class="source">{requestBody.text}</pre>
        </>
      )}
      {attempt.status !== null && (
        <pre class="source">
          {`${attempt.status}\n${replyHeaders.map(([name, value]) => `${name}: ${value}`).join('\n')}`}
        </pre>
      )}
      {replyBody.text !== '' && <JsonView text={replyBody.text} />}
      {truncated && <p class="small quiet">The reply was longer; 64 KiB of it are kept.</p>}
    </div>
  )
}

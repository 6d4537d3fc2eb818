import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AttemptView as Attempt } from '../../../packages/emulator/src/api/delivery-view.ts'
import { Badge, CopyButton, Source } from '../kit/elements.tsx'
import { JsonView } from '../kit/json-view.tsx'
import { lineDiff } from '../kit/line-diff.ts'
import { Ago, spanOf } from '../kit/now.tsx'
import { visible } from '../kit/text.ts'
import { emulatorNow } from './emulator-clock.ts'

interface AttemptViewProps {
  readonly attempt: Attempt
  readonly previous: Attempt | undefined
  /** Shows advice. A page shows the same advice only once. */
  readonly advise: boolean
  /** Shows the request and the reply from the start. */
  readonly open: boolean
}

/** Shows an attempt: its result, advice, and on demand the request and reply. */
export function AttemptView({ attempt, previous, advise, open }: AttemptViewProps) {
  const { number, at, durationMs, acknowledged, status, code, error, retryAfterMs, faults } = attempt
  return (
    <li class={acknowledged ? 'good' : 'bad'}>
      <div class="bar">
        <strong>Attempt {number}</strong>
        <span class="mono">
          {visible(status === null ? (error ?? 'no reply') : `${status} ${code ?? ''}`)}
        </span>
        {faults.map(fault => (
          <Badge key={fault} tone="wait">
            fault: {fault}
          </Badge>
        ))}
        <span class="push small quiet">
          <Ago at={Date.parse(at)} from={emulatorNow} />, took {spanOf(durationMs)}
        </span>
      </div>
      {retryAfterMs !== null && <div class="small">Retry-After: {spanOf(retryAfterMs)}</div>}
      {advise && <Advice code={code} />}
      {previous !== undefined && <Changes before={previous} after={attempt} />}
      <details open={open}>
        <summary>Reply and request</summary>
        <Exchange attempt={attempt} />
      </details>
    </li>
  )
}

/** Shows a refusal's cause and fix, from the documentation. */
function Advice({ code }: { readonly code: string | null }) {
  const codes = useSignal<Readonly<Record<string, { readonly cause: string; readonly fix: string }>>>({})
  useEffect(() => {
    if (code === null) return
    import('virtual:reply-codes').then(
      loaded => {
        codes.value = loaded.codes
      },
      () => {},
    )
  }, [code])
  const known = code === null || !Object.hasOwn(codes.value, code) ? undefined : codes.value[code]
  if (known === undefined) return null
  return (
    <div class="small">
      {known.cause} {known.fix}
    </div>
  )
}

/** Headers that always differ and are irrelevant. */
const NOT_COMPARED = ['date', 'x-request-id']

/** Shows how the reply differs from that of the previous attempt. */
function Changes({ before, after }: { readonly before: Attempt; readonly after: Attempt }) {
  const lines = lineDiff(replyLines(before), replyLines(after))
  if (lines.every(({ change }) => change === 'same'))
    return <div class="small quiet">Same reply as for attempt {before.number}.</div>
  return (
    <details>
      <summary>Changed since attempt {before.number}</summary>
      <div class="source mono">
        {lines.map(({ change, text }, index) => {
          if (change === 'gone') return <del key={index}>− {text}</del>
          return change === 'new' ? <ins key={index}>+ {text}</ins> : <div key={index}>{text}</div>
        })}
      </div>
    </details>
  )
}

function replyLines({ status, error, replyHeaders, replyBody }: Attempt): readonly string[] {
  const headers = replyHeaders.filter(([name]) => !NOT_COMPARED.includes(name.toLowerCase()))
  const first = status === null ? (error ?? 'no reply') : String(status)
  return [first, ...headers.map(([name, value]) => `${name}: ${value}`), ...linesOf(replyBody.text)]
}

/** Splits JSON into lines, with a break before each member and no other change. */
function linesOf(text: string): readonly string[] {
  return text.replace(/([[{,])(?=")/g, '$1\n').split('\n')
}

/** Shows the reply, which tells the cause of a failure, and then the request. */
function Exchange({ attempt }: { readonly attempt: Attempt }) {
  const { number, url, requestHeaders, requestBody, replyBody, truncated } = attempt
  return (
    <div class="stack">
      {attempt.status !== null && (
        <>
          <div class="bar">
            <h3>Reply</h3>
            <div class="push">
              <CopyButton label="Copy reply" text={() => `${headOf(attempt)}\n\n${replyBody.text}`} />
            </div>
          </div>
          <Source label={`Head of reply ${number}`} text={headOf(attempt)} />
        </>
      )}
      {replyBody.text !== '' && <JsonView label={`Body of reply ${number}`} text={replyBody.text} />}
      {truncated && <p class="small quiet">The reply was longer; only its beginning is kept.</p>}
      <h3>Request</h3>
      <Source
        label={`Head of request ${number}`}
        text={`POST ${url}\n${Object.entries(requestHeaders)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}`}
      />
      {requestBody !== null && (
        <>
          <p class="small">Sent instead of the event, because of a fault:</p>
          <Source label={`Body of request ${number}`} text={requestBody.text} />
        </>
      )}
    </div>
  )
}

function headOf({ status, replyHeaders }: Attempt): string {
  return [status, ...replyHeaders.map(([name, value]) => `${name}: ${value}`)].join('\n')
}

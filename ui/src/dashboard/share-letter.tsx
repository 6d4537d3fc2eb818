import { curlOf, isTestable, testOf } from '@ackhook/emulator/routes'
import { useMemo } from 'preact/hooks'
import type { EventRow } from '../../../packages/dashboard/src/protocol/protocol.ts'
import type { SavedRequest } from '../../../packages/emulator/src/api/delivery-view.ts'
import { base64Of } from '../../../packages/emulator/src/lib/curl-of.ts'
import { CopyButton } from '../kit/elements.tsx'
import { download } from '../kit/toasts.tsx'

/** Address in the command, to be changed: a dashboard does not know where its app receives events. */
const ADDRESS = 'http://localhost:3000/webhooks'
/** The command signs anew where a signature stands. */
const SIGNED = { 'content-type': 'application/json', 'X-Service-Signature': `t=0,v1=${'0'.repeat(64)}` }

/** Buttons that copy a letter's event, for a person or for a program that repeats it. */
export function ShareLetter({ letter: { id, type, body: text, receivedAt } }: { readonly letter: EventRow }) {
  const body = text === undefined ? undefined : { text, base64: null }
  const hasTest = useMemo(() => body !== undefined && isTestable(body), [text])
  return (
    <div class="bar">
      <CopyButton label="Copy id" text={() => id} />
      {body !== undefined && <CopyButton label="Copy event" text={() => body.text} />}
      <CopyButton label="Copy link" text={() => location.href} />
      {body !== undefined && (
        <>
          <CopyButton label="Copy as cURL" text={() => curlOf({ url: ADDRESS, headers: SIGNED, body })} />
          {hasTest && (
            <CopyButton label="Copy as test" text={() => testOf({ event: id, type, body, log: [] }) ?? ''} />
          )}
          <button type="button" onClick={() => download(`${id}.json`, savedRequest(body.text, receivedAt))}>
            Save request
          </button>
        </>
      )}
    </div>
  )
}

/** A request without a signature, for `ackhook send --from-file`, which signs it. */
function savedRequest(text: string, receivedAt: number): string {
  const request: SavedRequest = {
    format: 'ackhook-delivery-1',
    receivedAt: new Date(receivedAt).toISOString(),
    method: 'POST',
    url: ADDRESS,
    headers: [['content-type', 'application/json']],
    body: base64Of(text),
  }
  return JSON.stringify(request, undefined, 2)
}

import type { MessageView } from '../../../packages/emulator/src/messages/message-view.ts'
import { type Column, DataTable } from '../kit/data-table.tsx'
import { Badge, Field } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { AgoCell, zoneOf } from '../kit/now.tsx'
import { PAGE_ROWS } from '../kit/page-window.ts'
import { usePaged } from '../kit/paged.ts'
import { hrefOf, setQuery } from '../kit/route.ts'
import type { Selection } from '../kit/selection.ts'
import { visible } from '../kit/text.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { selectionHere } from './filters.tsx'
import { useNotices } from './live.ts'

const STATES = ['sent', 'delivered', 'read', 'failed'] as const

const COLUMNS: readonly Column<MessageView>[] = [
  {
    key: 'id',
    label: 'Message',
    cell: ({ id }) => (
      <a class="mono" href={hrefOf(['deliveries'], { message: id })}>
        {visible(id)}
      </a>
    ),
  },
  {
    key: 'number',
    label: 'Number',
    width: '13rem',
    cell: ({ direction, to, from }) => visible(direction === 'outbound' ? `to ${to}` : `from ${from}`),
  },
  {
    key: 'content',
    label: 'Template or text',
    cell: ({ template, text }) => visible(template ?? text ?? ''),
  },
  {
    key: 'state',
    label: 'State',
    width: '7rem',
    cell: ({ state }) => <Badge tone="idle">{state}</Badge>,
  },
  {
    key: 'advance',
    label: 'Advance to',
    width: '14rem',
    cell: message => <Advance message={message} />,
  },
  {
    key: 'at',
    label: `Created (${zoneOf()})`,
    width: '12.5rem',
    sortable: true,
    cell: ({ createdAt }) => <AgoCell at={Date.parse(createdAt)} from={emulatorNow} />,
  },
]

/** Lists messages of `POST /v1/messages` and inbound ones, and advances them. */
export function MessagesPage() {
  const paged = usePaged(selectionHere, loadMessages)
  const { count, ...list } = paged.list.value
  const error = paged.error.value
  useNotices(({ event }) => {
    if (event === 'message' || event === 'reset' || event === 'gap') paged.reload()
  })
  return (
    <>
      <h1>Messages</h1>
      <p class="note">
        The platform has published only the four fields of <code>POST /v1/messages</code>. Ids, states and
        events are guesses.
      </p>
      <Inbound />
      <Failure error={error} retry={paged.reload} isStale={count > 0} />
      {count === 0 && (paged.ready.value || error !== undefined) ? (
        <Nothing what="messages" error={error} clear={undefined}>
          <h2>No messages yet</h2>
          <p class="quiet">
            Point your client at <code>{location.origin}</code>, with any API key.
          </p>
        </Nothing>
      ) : (
        <DataTable
          caption="Messages"
          columns={COLUMNS}
          {...list}
          count={count}
          turn={paged.turn.value}
          place={paged.place}
          rowKey={({ id }) => id}
          sort={{ key: 'at', descending: paged.of.value?.order !== 'oldest' }}
          onSort={({ descending }) => setQuery({ order: descending ? '' : 'oldest' })}
          onView={paged.show}
        />
      )}
    </>
  )
}

async function loadMessages({ order }: Selection, after: string | undefined, signal: AbortSignal) {
  const query = { order, limit: PAGE_ROWS, after }
  const { messages, next } = await api<{ messages: readonly MessageView[]; next: string | null }>(
    'messages',
    { query, signal },
  )
  return { rows: messages, next: next ?? undefined }
}

function Advance({ message: { id, direction } }: { readonly message: MessageView }) {
  if (direction === 'inbound') return null
  const advance = (to: string) =>
    void attempt(async () => {
      await api(`messages/${encodeURIComponent(id)}/advance`, { method: 'POST', body: { to } })
      return `${id} is ${to}.`
    })
  return (
    <span class="bar">
      {STATES.map(state => (
        <button
          key={state}
          type="button"
          class="plain"
          aria-label={`Advance ${id} to ${state}`}
          onClick={() => advance(state)}
        >
          {state}
        </button>
      ))}
    </span>
  )
}

function Inbound() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const { from, text } = Object.fromEntries(new FormData(form))
    void attempt(async () => {
      await api('messages/inbound', { method: 'POST', body: { from, text } })
      form.reset()
      return 'Received.'
    })
  }
  return (
    <form class="fields" onSubmit={submit}>
      <Field label="Customer's number">
        <input name="from" required placeholder="+4915112345678" />
      </Field>
      <Field label="Text">
        <input name="text" required />
      </Field>
      <button type="submit">Receive</button>
    </form>
  )
}

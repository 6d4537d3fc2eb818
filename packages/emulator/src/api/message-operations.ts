import { DEFAULT_WORKSPACE } from '../endpoints/endpoints.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { newId } from '../lib/ids.ts'
import { inboundEvent, type MessageView, outboundEvent, toMessageView } from '../messages/message-view.ts'
import { readInbound, readOutbound } from '../messages/read-message.ts'
import { MESSAGE_STATES, type MessageState } from '../shapes/requests.ts'
import type { MessageRow } from '../storage/message-rows.ts'
import type { EmulatorApi, SentEvent } from './emulator-api.ts'
import type { EventsOperations } from './events-operations.ts'
import type { Parts } from './parts.ts'
import { readPage } from './read-selection.ts'

/** Messages of `POST /v1/messages`, inbound messages, and their states. */
export class MessageOperations implements Pick<EmulatorApi, 'messages'> {
  readonly #parts: Parts
  readonly #events: EventsOperations

  constructor(parts: Parts, events: EventsOperations) {
    this.#parts = parts
    this.#events = events
  }

  readonly messages: EmulatorApi['messages'] = {
    list: async (options = {}) => {
      const { limit, ...page } = readPage(options)
      const rows = this.#parts.storage.messages.page({ ...page, limit: limit + 1 })
      const shown = rows.slice(0, limit)
      const next = rows.length > shown.length ? String(shown.at(-1)?.seq) : null
      return { messages: shown.map(toMessageView), next }
    },
    get: async id => toMessageView(this.#require(id)),
    send: async message => this.#send(message),
    advance: async (id, to) => this.#advance(id, to),
    receive: async (message, workspace = DEFAULT_WORKSPACE) => this.#receive(message, workspace),
  }

  #send(value: object): MessageView {
    const { channel, to, template, variables } = readOutbound(value)
    return this.#add({
      ...{ workspace: DEFAULT_WORKSPACE, direction: 'outbound', channel, number: to, template },
      ...{ content: JSON.stringify(variables), state: 'accepted' },
    })
  }

  #advance(id: string, to: MessageState): { message: MessageView; event: SentEvent } {
    const row = this.#require(id)
    if (!MESSAGE_STATES.includes(to)) throw invalid('to', `must be one of ${MESSAGE_STATES.join(', ')}`)
    if (row.direction !== 'outbound') throw new EmulatorError('conflict', `the message ${id} is inbound`)
    const event = this.#events.sendOne(outboundEvent(row, to), { workspace: row.workspace }, id)
    this.#parts.storage.messages.update(id, to, this.#parts.clock.now())
    return { message: this.#announce(id), event }
  }

  #receive(value: object, workspace: string): { message: MessageView; event: SentEvent } {
    const { channel, from, text } = readInbound(value)
    this.#parts.endpoints.requireWorkspace(workspace)
    this.#parts.intake.requireRoom(1)
    const { id } = this.#add({
      ...{ workspace, direction: 'inbound', channel, number: from, template: null },
      ...{ content: JSON.stringify(text), state: 'received' },
    })
    const event = this.#events.sendOne(inboundEvent(this.#require(id)), { workspace }, id)
    return { message: toMessageView(this.#require(id)), event }
  }

  #add(row: Omit<MessageRow, 'seq' | 'id' | 'created_at' | 'updated_at'>): MessageView {
    const now = this.#parts.clock.now()
    const id = newId('msg_')
    this.#parts.storage.messages.insert({ ...row, id, created_at: now, updated_at: now })
    return this.#announce(id)
  }

  #announce(id: string): MessageView {
    const view = toMessageView(this.#require(id))
    this.#parts.feed.publish('message', view)
    return view
  }

  #require(id: string): MessageRow {
    const row = this.#parts.storage.messages.byId(String(id))
    if (row === undefined) throw new EmulatorError('not_found', `there is no message ${id}`)
    return row
  }
}

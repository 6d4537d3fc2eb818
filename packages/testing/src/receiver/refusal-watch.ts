import { AsyncLocalStorage } from 'node:async_hooks'
import type { Observation, Receiver } from '@ackhook/core'

/** Observation of a refused request. The reply hides why a signature is invalid. */
export type Rejection = Extract<Observation, { readonly kind: 'rejected' }>

/** Assigns refusals to the requests that a receiver handles at the same time: an observation names no request. */
export class RefusalWatch {
  readonly #requests = new AsyncLocalStorage<{ rejection?: Rejection }>()

  constructor(receiver: Pick<Receiver<never, never>, 'subscribe'>) {
    receiver.subscribe(observation => {
      const request = this.#requests.getStore()
      if (observation.kind === 'rejected' && request !== undefined) request.rejection = observation
    })
  }

  /** Returns the reply to one request, and the reason if it was refused. */
  async watch<Reply>(handle: () => Promise<Reply>): Promise<{
    readonly reply: Reply
    readonly rejection: Rejection | undefined
  }> {
    const request: { rejection?: Rejection } = {}
    const reply = await this.#requests.run(request, handle)
    return { reply, rejection: request.rejection }
  }
}

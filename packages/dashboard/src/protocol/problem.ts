import type { Problem } from './protocol.ts'

/** A reply that is not 2xx. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly error: string

  constructor(status: number, error: string, message: string) {
    super(message)
    this.status = status
    this.error = error
  }

  toReply(): Response {
    const { status, error, message } = this
    return Response.json({ error, message } satisfies Problem, { status })
  }
}

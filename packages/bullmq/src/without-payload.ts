/** Where ioredis puts the arguments of a command that Redis refused, and PostgreSQL the values it did. */
const QUOTING = ['command', 'detail', 'where'] as const

/** The same error, without what it quotes of an event: loggers print all of an error, and payload data belongs in no log. */
export function withoutPayload(error: unknown): unknown {
  if (error instanceof Error) for (const name of QUOTING) Reflect.deleteProperty(error, name)
  return error
}

import { ConfigurationError } from '@ackhook/core'

/** Refuses what JavaScript passes instead of options with a secret. `call` is how it is written. */
export function checkSecret(options: unknown, call: string): void {
  const { secret } = Object(options) as { readonly secret?: unknown }
  const secrets = Array.isArray(secret) ? secret : [secret]
  if (secrets.every(one => typeof one === 'string')) return
  throw new ConfigurationError('secret', `must be a string or a list of them: write ${call}`)
}

import { ConfigurationError } from '@ackhook/core'

/**
 * Refuses an unset variable, and values that JavaScript code may pass instead of options with a secret. `call` is the
 * call as written.
 */
export function checkSecret(options: unknown, call: string): void {
  const { secret } = Object(options) as { readonly secret?: unknown }
  const secrets = Array.isArray(secret) ? secret : [secret]
  if (secrets.length > 0 && secrets.every(one => typeof one === 'string' && one !== '')) return
  const fix = `must be a string that is not empty, or a list of them: write ${call}; is its variable set?`
  throw new ConfigurationError('secret', fix)
}

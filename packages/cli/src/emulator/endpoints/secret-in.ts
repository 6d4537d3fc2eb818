import { findSecrets } from '../../secrets/resolve-secrets.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { SecretsFileFlags } from './endpoint-flags.ts'

/** Reads the secret from `--secrets-file`. The secret in the environment is the current one, so it is ignored. */
export function secretIn({ secretsFile }: SecretsFileFlags, terminal: Terminal): string | undefined {
  return secretsFile === undefined ? undefined : findSecrets({ secretsFile }, terminal)[0]?.value
}

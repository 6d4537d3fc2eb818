import { findSecrets } from '../../secrets/resolve-secrets.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import type { SecretsFileFlags } from './endpoint-flags.ts'

/** The secret in the file that the flags name. The environment is not read: its secret is not meant to be set. */
export function secretIn({ secretsFile }: SecretsFileFlags, terminal: Terminal): string | undefined {
  return secretsFile === undefined ? undefined : findSecrets({ secretsFile }, terminal)[0]?.value
}

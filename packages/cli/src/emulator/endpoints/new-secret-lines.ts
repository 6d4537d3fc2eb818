import { createPaint } from '../../terminal/paint.ts'
import type { Terminal } from '../../terminal/terminal.ts'

/** How to use a secret that was made up just now, which is shown this once. */
export function newSecretLines(secret: string | null, { colours }: Terminal): readonly string[] {
  if (secret === null) return []
  const { bold } = createPaint(colours)
  return [
    '',
    'Its secret is shown this once. Set it where your app runs:',
    `  ${bold(`export SIGNING_SECRET=${secret}`)}`,
  ]
}

import { shellWord } from '../../lib/shell-word.ts'
import type { Delivery } from '../delivery.ts'

/**
 * Returns the command line that redrives a dead letter. `place` holds the flags that locate the inbox for `ackhook
 * inbox`, such as `['--sqlite', '/data/webhooks.db']`.
 */
export function redriveCommand(
  place: readonly string[],
  { id, namespace }: Pick<Delivery, 'id' | 'namespace'>,
): string {
  const flags = [...place, ...(namespace === '' ? [] : ['--namespace', namespace])]
  const words = id.startsWith('-') ? [...flags, '--', id] : [id, ...flags]
  return `npx ackhook inbox redrive ${words.map(shellWord).join(' ')}`
}

/** Returns the command line that ends a pause: of one type, or of all. */
export function resumeCommand(place: readonly string[], type: string | undefined): string {
  const words = type?.startsWith('-') ? [...place, '--', type] : [type ?? '--all', ...place]
  return `npx ackhook inbox resume ${words.map(shellWord).join(' ')}`
}

import { UsageError } from './usage-error.ts'

/** Returns whether the user confirms, or set --yes. Without a terminal, --yes is required. */
export async function confirmed(
  question: string,
  { yes }: { readonly yes?: boolean },
  { confirm }: { readonly confirm: (question: string) => Promise<boolean | undefined> },
): Promise<boolean> {
  if (yes) return true
  const sure = await confirm(question)
  if (sure === undefined) throw new UsageError('add --yes to continue without confirmation')
  return sure
}

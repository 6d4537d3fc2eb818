import { UsageError } from './usage-error.ts'

/** Returns whether the user agrees, or gave --yes. Without a terminal, --yes is required. */
export async function confirmed(
  question: string,
  { yes }: { readonly yes?: boolean },
  { confirm }: { readonly confirm: (question: string) => Promise<boolean | undefined> },
): Promise<boolean> {
  if (yes) return true
  const sure = await confirm(question)
  if (sure === undefined) throw new UsageError('add --yes to do it without confirmation')
  return sure
}

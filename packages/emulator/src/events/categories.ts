/** Categories that the platform has announced. Others are accepted, as the list may grow. */
export const CATEGORIES: readonly string[] = ['message', 'conversation', 'call', 'campaign', 'contact']

/** The only published type. Every other name is a guess. */
const PUBLISHED: readonly string[] = ['conversation.resolved']

/** Returns a type's category: `conversation` for `conversation.resolved`. */
export function categoryOf(type: string): string {
  const dot = type.indexOf('.')
  return dot < 0 ? type : type.slice(0, dot)
}

/** Returns whether this type's name is a guess. */
export function isGuess(type: string): boolean {
  return !PUBLISHED.includes(type)
}

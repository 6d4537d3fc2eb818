/** The work behind every receiver: counts, and yields once as any real handler does. */
export const work = { handled: 0 }

export async function handleEvent(event) {
  await undefined
  if (event.type === 'conversation.resolved') work.handled++
}

/** Handler of every receiver: counts, and yields once like any real handler. */
export const work = { handled: 0 }

export async function handleEvent(event) {
  await undefined
  if (event.type === 'conversation.resolved') work.handled++
}

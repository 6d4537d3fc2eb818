/** Returns the body as text, cut off after `maxBytes`. `truncated` if it was longer or incomplete. Never rejects. */
export async function readText(
  response: Response,
  maxBytes: number,
): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  let left = maxBytes
  let truncated = false
  const reader = response.body?.getReader()
  try {
    for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
      text += decoder.decode(chunk.value.subarray(0, left), { stream: true })
      left -= chunk.value.byteLength
      truncated = left < 0
      if (truncated) break
    }
  } catch {
    truncated = true
  }
  // Closes the connection of a response that is not read to its end.
  if (truncated) reader?.cancel().catch(() => {})
  return { text: text + decoder.decode(), truncated }
}

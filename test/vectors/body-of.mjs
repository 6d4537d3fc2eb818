/** Returns the bytes of a vector's request. Needs only web interfaces. */
export function bodyOf({ body }) {
  if (typeof body === 'string') return decode(body)
  const parts = body.map(({ base64, times }) => ({ bytes: decode(base64), times }))
  const whole = new Uint8Array(parts.reduce((sum, { bytes, times }) => sum + bytes.length * times, 0))
  let offset = 0
  for (const { bytes, times } of parts) {
    for (let i = 0; i < times; i++, offset += bytes.length) whole.set(bytes, offset)
  }
  return whole
}

function decode(base64) {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}

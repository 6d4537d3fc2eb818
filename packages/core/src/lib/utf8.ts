/** Created when needed: Jest's jsdom has neither class, and may load a module that only mentions this package. */
let encoder: InstanceType<typeof TextEncoder> | undefined
let decoder: InstanceType<typeof TextDecoder> | undefined

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  encoder ??= new TextEncoder()
  return encoder.encode(text)
}

/** Without a byte order mark. Invalid sequences become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder()
  return decoder.decode(bytes)
}

/** The bytes of a vector's request. Needs nothing but the web's own interfaces. */
export declare function bodyOf(request: {
  readonly body: string | readonly { readonly base64: string; readonly times: number }[]
}): Uint8Array<ArrayBuffer>

/** Returns the bytes of a vector's request. Needs only web interfaces. */
export declare function bodyOf(request: {
  readonly body: string | readonly { readonly base64: string; readonly times: number }[]
}): Uint8Array<ArrayBuffer>

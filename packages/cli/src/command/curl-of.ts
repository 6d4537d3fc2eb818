interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request as a command for `curl` that sends the same bytes. */
export function curlOf({ url, headers, body }: PostRequest): string {
  const options = Object.entries(headers).map(([name, value]) => ` \\\n  -H ${quoted(`${name}: ${value}`)}`)
  return `curl -i ${quoted(url)}${options.join('')} \\\n  --data-raw ${quoted(body)}`
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Lines of a growing output, for tests that wait for one of them. */
export class Lines {
  #text = ''
  #ended = false
  readonly #waiting = new Set<() => void>()

  get text(): string {
    return this.#text
  }

  add(text: string): void {
    this.#text += text
    this.#look()
  }

  end(): void {
    this.#ended = true
    this.#look()
  }

  /** Resolves with the first matching line. Rejects if the output ends first. */
  find(pattern: RegExp): Promise<string> {
    return new Promise((found, failed) => {
      const look = (): void => {
        const line = this.#text.split('\n').find(text => pattern.test(text))
        if (line === undefined && !this.#ended) return
        this.#waiting.delete(look)
        if (line === undefined) failed(new Error(`ended without ${String(pattern)}: ${this.#text}`))
        else found(line)
      }
      this.#waiting.add(look)
      look()
    })
  }

  #look(): void {
    for (const look of [...this.#waiting]) look()
  }
}

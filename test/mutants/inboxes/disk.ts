/** One file on a disk that keeps, in a crash, what was flushed and perhaps a part of the rest. */
export class Disk {
  #flushed = ''
  #unflushed = ''
  /** Makes every write and flush fail. */
  isFailing = false

  /** The file as a process reads it. */
  read(): string {
    return this.#flushed + this.#unflushed
  }

  /** Opens the file in a process, which a crash ends. */
  open(): DiskHandle {
    let isDead = false
    const check = (): void => {
      if (isDead) throw new Error('the process is dead')
      if (this.isFailing) throw new Error('ENOSPC: no space left on device')
    }
    return {
      read: () => this.read(),
      write: text => {
        check()
        this.#unflushed += text
      },
      flush: async () => {
        await new Promise(resolve => setImmediate(resolve))
        try {
          check()
        } catch (error) {
          if (!isDead) this.#unflushed = ''
          throw error
        }
        this.#flushed += this.#unflushed
        this.#unflushed = ''
      },
      replace: text => {
        check()
        this.#flushed = text
        this.#unflushed = ''
      },
      crash: () => {
        isDead = true
        // The page of the first write had reached the disk in part.
        const torn = this.#unflushed.slice(0, this.#unflushed.indexOf('\n') >> 1)
        this.#flushed += torn
        this.#unflushed = ''
      },
    }
  }
}

export interface DiskHandle {
  read(): string
  /** Throws when nothing can be written, and then writes nothing. */
  write(text: string): void
  /** Resolves once all that was written survives a crash. */
  flush(): Promise<void>
  /** Replaces the whole file, as a rename does. */
  replace(text: string): void
  /** Ends the process that holds this handle, and the machine with it. */
  crash(): void
}

/** One file on a disk. In a crash, flushed data survives, and perhaps a part of the rest. */
export class Disk {
  #flushed = ''
  #unflushed = ''
  /** Makes every write and flush fail. */
  isFailing = false

  /** Returns the file's content as a process reads it. */
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
        // A part of the first write has reached the disk.
        const torn = this.#unflushed.slice(0, this.#unflushed.indexOf('\n') >> 1)
        this.#flushed += torn
        this.#unflushed = ''
      },
    }
  }
}

export interface DiskHandle {
  read(): string
  /** Writes everything, or throws and writes nothing. */
  write(text: string): void
  /** Resolves once all written data survives a crash. */
  flush(): Promise<void>
  /** Replaces the whole file, as a rename does. */
  replace(text: string): void
  /** Ends the process that holds this handle, and the machine with it. */
  crash(): void
}

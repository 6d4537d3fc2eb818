/** Downloads a text as a file. */
export function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.download = name
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

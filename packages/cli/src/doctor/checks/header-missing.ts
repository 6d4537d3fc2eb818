import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

const LOOKS_SIGNED = /^\s*"?t=[^,;]+[,;]\s*[A-Za-z0-9_-]+=/

export function headerMissing({ headerLines, headerName, delivery }: Facts): Finding | undefined {
  if (headerLines.length > 0) return undefined
  const alike = delivery.headers.find(([, value]) => LOOKS_SIGNED.test(value))
  if (alike !== undefined) {
    return {
      cause: 'header-renamed',
      proven: true,
      text: `There is no header ${headerName}, but ${alike[0]} holds a signature. Give the receiver that name: contract: { header: '${alike[0]}' }.`,
    }
  }
  return {
    cause: 'header-missing',
    proven: true,
    text: `There is no header ${headerName}. Either the request is not from the platform, or a proxy in front of your app removes unknown headers: configure it to forward ${headerName}.`,
  }
}

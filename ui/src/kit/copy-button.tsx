import { toast } from './toasts.tsx'

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const copy = () =>
    navigator.clipboard.writeText(text()).then(
      () => toast('good', 'Copied.'),
      () => toast('bad', 'The browser refused access to the clipboard.'),
    )
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  )
}

import { defineComponent, h, nextTick, onMounted, ref } from 'vue'
import { CHOICES, choose, chosen, first, readChoices } from './choices.mjs'

/** Buttons above a code block. A choice holds for every block of every page. */
export const CodeChoice = defineComponent({
  props: { of: { type: String, required: true } },
  setup(props) {
    const bar = ref()
    onMounted(readChoices)

    /** Keeps the buttons where they are: blocks above them may become longer or shorter. */
    async function select(choice, value) {
      const before = bar.value.getBoundingClientRect().top
      choose(choice, value)
      await nextTick()
      scrollBy({ top: bar.value.getBoundingClientRect().top - before, behavior: 'instant' })
    }

    return () =>
      h(
        'div',
        { class: 'code-choice', ref: bar },
        props.of.split(' ').map(choice =>
          h(
            'div',
            { role: 'group', 'aria-label': CHOICES[choice].label },
            Object.entries(CHOICES[choice].values).map(([value, text]) =>
              h(
                'button',
                {
                  type: 'button',
                  'aria-pressed': (chosen[choice] ?? first(choice)) === value,
                  onClick: () => select(choice, value),
                },
                text,
              ),
            ),
          ),
        ),
      )
  },
})

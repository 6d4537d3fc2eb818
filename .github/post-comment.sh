#!/bin/bash
# Posts comment.md, which a pull request's own code wrote, on the open pull request whose newest commit that run was for.
# The text is shown as text: an indented block has no links, mentions, images or HTML. GitHub takes 65,536 characters.
set -euo pipefail
# An archive can contain a link to a file of this machine.
if [ -L comment.md ] || [ ! -f comment.md ]; then
  echo 'comment.md is no file.' >&2
  exit 1
fi
number=$(gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" -f state=open -f head="$OWNER:$BRANCH" \
  --jq '[.[] | select(.head.sha == env.SHA) | .number][0] // empty')
[[ $number =~ ^[0-9]+$ ]] || exit 0
{
  echo 'Written by the code of this pull request:'
  echo
  # A carriage return would end a line, and with it the block. A byte of a character that is cut is dropped.
  head -c 30000 comment.md | iconv -c -f UTF-8 -t UTF-8 | tr -d '\000-\010\013-\037\177' | awk 'NR <= 400' | sed 's/^/    /'
} > quoted.md
gh pr comment "$number" --repo "$GITHUB_REPOSITORY" --body-file quoted.md --edit-last --create-if-none

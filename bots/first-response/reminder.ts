interface Options {
  minutes: number;
  console?: string | undefined;
}

/** Returns the text of a reminder, in the markup of Slack. */
export function reminderFor(conversation: Readonly<Record<string, unknown>>, { minutes, console }: Options): string {
  const id = String(conversation['id']);
  const { assignee } = (conversation['meta'] ?? {}) as { assignee?: { name: string } | null };
  const name = `Conversation ${id}`;
  const shown = console ? `<${console.replace(/\/$/, '')}/conversations/${id}|${name}>` : name;
  const owner = assignee ? `assigned to ${escaped(assignee.name)}` : 'not assigned';
  return `${shown} has waited ${minutes} minutes for a first answer (${owner}).`;
}

// Slack reads these characters as markup.
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

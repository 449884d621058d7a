import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from '../../kit/form.tsx';
import { slashWordAt, useMatches, type CannedResponse, type Matches, type SlashWord } from './canned-matches.ts';
import { fillIn, type Piece } from './message-variables.ts';
import type { Conversation } from './words.tsx';

interface Props {
  conversation: Conversation;
  label: string;
  hint: string;
  problem: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

/** The field for the text of a message. A slash at the start of a word opens the canned responses. */
export function MessageField({ conversation, value, onChange, ...field }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const list = useCannedList(conversation, (response, { start }, { variables }) => {
    if (area.current) onChange(insert(area.current, start, fillIn(response.content, variables)));
  });
  const follow = (): void => list.follow(area.current);
  return (
    <Field {...field}>
      {(control) => (
        <>
          <textarea
            {...control}
            {...(list.isOpen && comboboxOf(listId, list.active))}
            ref={area}
            rows={3}
            value={value}
            onInput={({ currentTarget }) => {
              onChange(currentTarget.value);
              follow();
            }}
            onKeyDown={list.press}
            onKeyUp={({ key }) => key.startsWith('Arrow') && follow()}
            onClick={follow}
            onBlur={list.close}
          />
          {list.isOpen && <CannedList {...list} id={listId} />}
          <span class="for-screen-readers" role="status">
            {list.isOpen && list.matches.isReady && countInWords(list.matches.responses.length)}
          </span>
        </>
      )}
    </Field>
  );
}

// As an object of any attributes: the type of text areas has no role but their own.
function comboboxOf(listId: string, active: CannedResponse | undefined): object {
  return {
    role: 'combobox',
    'aria-expanded': true,
    'aria-autocomplete': 'list',
    'aria-controls': listId,
    'aria-activedescendant': active && optionId(listId, active),
  };
}

const optionId = (listId: string, { id }: CannedResponse): string => `${listId}-${id}`;

type Choose = (response: CannedResponse, word: SlashWord, matches: Matches) => void;

/** State of the list that a slash opens: its word, its active option, and the keys that it takes. */
function useCannedList(conversation: Conversation, choose: Choose) {
  const [word, setWord] = useState<SlashWord | null>(null);
  // Position of a slash that the person closed the list for.
  const dismissed = useRef<number | null>(null);
  const [index, setIndex] = useState(0);
  // Enter before the list is loaded: it takes the first response that is found.
  const [isChosen, setChosen] = useState(false);
  const matches = useMatches(conversation, word?.query ?? null);
  const { responses, isReady } = matches;
  const active = responses[index];
  const close = (): void => {
    setWord(null);
    setChosen(false);
  };
  function take(response: CannedResponse): void {
    if (word) choose(response, word, matches);
    close();
  }
  function follow(area: HTMLTextAreaElement | null): void {
    const found = area && area.selectionStart === area.selectionEnd ? slashWordAt(area.value, area.selectionEnd) : null;
    if (found?.start !== dismissed.current) dismissed.current = null;
    if (found?.start === word?.start && found?.query === word?.query) return;
    setIndex(0);
    setChosen(false);
    setWord(dismissed.current === null ? found : null);
  }
  useEffect(() => {
    if (!isChosen || !isReady) return;
    if (active) take(active);
    else setChosen(false);
  }, [isChosen, isReady]);
  function act(key: string, { start }: SlashWord): boolean {
    if (key === 'Escape') {
      dismissed.current = start;
      close();
    } else if (key.startsWith('Arrow')) {
      if (responses.length === 0) return false;
      const step = key === 'ArrowDown' ? 1 : responses.length - 1;
      setIndex((index + step) % responses.length);
    } else if (!isReady && matches.error === null) setChosen(true);
    else if (active) take(active);
    else return false;
    return true;
  }
  function press(event: KeyboardEvent): void {
    if (!word || isForOthers(event) || !act(event.key, word)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  return { isOpen: word !== null, word, matches, active, take, follow, press, close };
}

function isForOthers({ key, isComposing, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  if (isComposing || ctrlKey || metaKey || altKey || shiftKey) return true;
  return !['Escape', 'ArrowDown', 'ArrowUp', 'Enter', 'Tab'].includes(key);
}

interface ListProps extends Pick<ReturnType<typeof useCannedList>, 'word' | 'matches' | 'active' | 'take'> {
  id: string;
}

function CannedList({ id, word, matches: { responses, isReady, error, variables }, active, take }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [active]);
  const pieces = active ? fillIn(active.content, variables) : [];
  return (
    <div class="canned">
      <ul ref={list} id={id} role="listbox" aria-label="Canned responses" aria-busy={!isReady}>
        {responses.map((response) => (
          <li
            key={response.id}
            id={optionId(id, response)}
            role="option"
            aria-selected={response === active}
            // Else the field loses the focus before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(response)}
          >
            <b>/{response.short_code}</b> <span dir="auto">{response.content}</span>
          </li>
        ))}
      </ul>
      {error !== null && <p class="problem">{error}</p>}
      {isReady && responses.length === 0 && <p>{emptySentence(word?.query ?? '')}</p>}
      {active && isReady && <Preview pieces={pieces} />}
    </div>
  );
}

function Preview({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <div class="preview">
      <small>Preview</small>
      <p dir="auto">
        {pieces.map(({ text, isMissing }, index) => (isMissing ? <mark key={index}>{text}</mark> : text))}
      </p>
    </div>
  );
}

function emptySentence(query: string): string {
  return query === ''
    ? 'No canned responses yet. Create them in Settings, Canned responses.'
    : 'No canned responses match.';
}

function countInWords(count: number): string {
  if (count === 0) return 'No canned responses match.';
  return count === 1
    ? '1 canned response. Enter inserts it.'
    : `${count} canned responses. Enter inserts the selected one.`;
}

/** Puts pieces in place of the word that begins at `start`, and selects the first variable without a value; returns the text. */
function insert(area: HTMLTextAreaElement, start: number, pieces: readonly Piece[]): string {
  area.focus();
  area.setRangeText(pieces.map(({ text }) => text).join(''), start, area.selectionEnd, 'end');
  const first = pieces.findIndex(({ isMissing }) => isMissing);
  if (first >= 0) {
    const at = pieces.slice(0, first).reduce((sum, { text }) => sum + text.length, start);
    area.setSelectionRange(at, at + (pieces[first]?.text.length ?? 0));
  }
  return area.value;
}

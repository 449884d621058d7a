import { render } from 'preact';
import '../styles.css';
import './page.css';
import { Chat } from '../chat.ts';
import { ChatPage } from './chat-page.tsx';

const identifier = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const place = document.querySelector('#app');
const chat = new Chat({ origin: location.origin, inbox: identifier, visitor: {} });
if (place) render(<ChatPage chat={chat} identifier={identifier} />, place);
void chat.enter();

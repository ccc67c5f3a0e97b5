<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko" sourcelanguage="en">
    <context>
        <name>AboutPage</name>
        <message>
            <source>Chats with a model larger than your graphics card. Free software under the Apache License 2.0. Everything runs on this machine: nothing you type leaves it, and nothing is counted or reported. The only connections are the downloads you ask for and, where you turned it on, the question whether there is a newer version.</source>
            <translation>그래픽 카드보다 큰 모델과 대화합니다. Apache License 2.0에 따른 자유 소프트웨어입니다. 모든 것이 이 컴퓨터에서 실행되며, 입력한 내용은 밖으로 나가지 않고 아무것도 집계하거나 보고하지 않습니다. 연결은 사용자가 요청한 다운로드와, 켜 둔 경우 새 버전이 있는지 묻는 것뿐입니다.</translation>
        </message>
        <message>
            <source>Logs</source>
            <translation>로그</translation>
        </message>
        <message>
            <source>Made with</source>
            <translation>사용한 라이브러리</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>열기</translation>
        </message>
        <message>
            <source>Open: {}</source>
            <translation>열기: {}</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>설정</translation>
        </message>
    </context>
    <context>
        <name>AccessPage</name>
        <message>
            <source>1. Accept the licence</source>
            <translation>1. 라이선스 동의</translation>
        </message>
        <message>
            <source>2. Enter an access token</source>
            <translation>2. 액세스 토큰 입력</translation>
        </message>
        <message>
            <source>Access</source>
            <translation>접근 권한</translation>
        </message>
        <message>
            <source>Access token</source>
            <translation>액세스 토큰</translation>
        </message>
        <message>
            <source>Check and go on</source>
            <translation>확인하고 계속</translation>
        </message>
        <message>
            <source>Checking…</source>
            <translation>확인하는 중…</translation>
        </message>
        <message>
            <source>It proves to the Hub that it is you. A token of the kind “Read” will do. It is kept in this system's keyring, and sent to the Hub only.</source>
            <translation>Hub에 본인임을 증명합니다. “Read” 종류의 토큰이면 됩니다. 이 시스템의 키링에 저장되고 Hub에만 전송됩니다.</translation>
        </message>
        <message>
            <source>Log in on the model's page, make a free account if you have none, and accept there.</source>
            <translation>모델 페이지에서 로그인하고, 계정이 없으면 무료 계정을 만든 뒤 동의하세요.</translation>
        </message>
        <message>
            <source>Make an access token</source>
            <translation>액세스 토큰 만들기</translation>
        </message>
        <message>
            <source>Open the model's page</source>
            <translation>모델 페이지 열기</translation>
        </message>
        <message>
            <source>Show</source>
            <translation>표시</translation>
        </message>
        <message>
            <source>Show the access token</source>
            <translation>액세스 토큰 표시</translation>
        </message>
        <message>
            <source>This model asks for your consent</source>
            <translation>이 모델은 동의가 필요합니다</translation>
        </message>
    </context>
    <context>
        <name>AnswerView</name>
        <message>
            <source>Answer</source>
            <translation>답변</translation>
        </message>
        <message>
            <source>Waiting for the model…</source>
            <translation>모델을 기다리는 중…</translation>
        </message>
    </context>
    <context>
        <name>BackendsView</name>
        <message>
            <source>What computes the answers</source>
            <translation>답변을 계산하는 것</translation>
        </message>
    </context>
    <context>
        <name>Catalogue</name>
        <message>
            <source>Already here</source>
            <translation>이미 있음</translation>
        </message>
        <message>
            <source>Also the slower ways to run the same model</source>
            <translation>같은 모델을 더 느리게 실행하는 방법까지</translation>
        </message>
        <message>
            <source>By name</source>
            <translation>이름순</translation>
        </message>
        <message>
            <source>Every form and draft</source>
            <translation>모든 형식과 드래프트</translation>
        </message>
        <message>
            <source>Fastest first</source>
            <translation>빠른 순</translation>
        </message>
        <message>
            <source>Find in the list</source>
            <translation>목록에서 찾기</translation>
        </message>
        <message>
            <source>Largest download first</source>
            <translation>다운로드 큰 순</translation>
        </message>
        <message>
            <source>No model of the list is like that.</source>
            <translation>목록에 그런 모델이 없습니다.</translation>
        </message>
        <message>
            <source>Order</source>
            <translation>정렬</translation>
        </message>
        <message>
            <source>Recommended first</source>
            <translation>추천 순</translation>
        </message>
        <message>
            <source>Runs anywhere</source>
            <translation>어디서 실행되든</translation>
        </message>
        <message>
            <source>Smallest download first</source>
            <translation>다운로드 작은 순</translation>
        </message>
        <message>
            <source>Where it runs</source>
            <translation>실행 위치</translation>
        </message>
    </context>
    <context>
        <name>Changes</name>
        <message>
            <source>Deleted the folder “{}”; its chats were kept</source>
            <translation>폴더 “{}” 삭제됨, 대화는 남아 있음</translation>
        </message>
        <message>
            <source>Deleted “{}”</source>
            <translation>“{}” 삭제됨</translation>
        </message>
        <message>
            <source>New folder</source>
            <translation>새 폴더</translation>
        </message>
        <message>
            <source>New folder {}</source>
            <translation>새 폴더 {}</translation>
        </message>
    </context>
    <context>
        <name>ChatList</name>
        <message>
            <source>Last used {}</source>
            <translation>마지막 사용 {}</translation>
        </message>
        <message>
            <source>{}, answering</source>
            <translation>{}, 답변 중</translation>
        </message>
    </context>
    <context>
        <name>ChatMenu</name>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Delete the folder, keep its chats</source>
            <translation>폴더만 삭제하고 대화는 남기기</translation>
        </message>
        <message>
            <source>Duplicate</source>
            <translation>복제</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>내보내기…</translation>
        </message>
        <message>
            <source>Move to folder</source>
            <translation>폴더로 이동</translation>
        </message>
        <message>
            <source>New folder…</source>
            <translation>새 폴더…</translation>
        </message>
        <message>
            <source>No folder</source>
            <translation>폴더 없음</translation>
        </message>
        <message>
            <source>Pin</source>
            <translation>고정</translation>
        </message>
        <message>
            <source>Print…</source>
            <translation>인쇄…</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>이름 바꾸기</translation>
        </message>
        <message>
            <source>Save as PDF…</source>
            <translation>PDF로 저장…</translation>
        </message>
        <message>
            <source>Unpin</source>
            <translation>고정 해제</translation>
        </message>
        <message>
            <source>What to do with the chat</source>
            <translation>대화로 할 일</translation>
        </message>
    </context>
    <context>
        <name>ChatRow</name>
        <message>
            <source>Automatic title</source>
            <translation>자동 제목</translation>
        </message>
        <message>
            <source>Name of the folder</source>
            <translation>폴더 이름</translation>
        </message>
        <message>
            <source>Title of the chat</source>
            <translation>대화 제목</translation>
        </message>
    </context>
    <context>
        <name>ChatView</name>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
        </message>
    </context>
    <context>
        <name>ChoiceEditor</name>
        <message>
            <source>{} (not here)</source>
            <translation>{} (여기 없음)</translation>
        </message>
    </context>
    <context>
        <name>ChoosePage</name>
        <message>
            <source>Any model from Hugging Face</source>
            <translation>Hugging Face의 아무 모델</translation>
        </message>
        <message>
            <source>Choose</source>
            <translation>선택</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Get it ({})</source>
            <translation>받기 ({})</translation>
        </message>
        <message>
            <source>Larger models know more and answer more slowly. If you are not sure, take the one that is recommended; you can get others at any time.</source>
            <translation>큰 모델은 더 많이 알지만 더 느리게 답합니다. 잘 모르겠으면 추천 모델을 고르세요. 다른 모델은 언제든 받을 수 있습니다.</translation>
        </message>
        <message>
            <source>Load it now</source>
            <translation>지금 불러오기</translation>
        </message>
        <message>
            <source>Models that fit together</source>
            <translation>함께 쓸 수 있는 모델</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>다음</translation>
        </message>
        <message>
            <source>Working out what runs here</source>
            <translation>여기서 실행되는 것을 알아보는 중</translation>
        </message>
        <message>
            <source>Working out what runs on this machine, and how fast…</source>
            <translation>이 컴퓨터에서 무엇이 얼마나 빠르게 실행되는지 알아보는 중…</translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message>
            <source>Enter</source>
            <translation>Enter</translation>
        </message>
        <message>
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Message</source>
            <translation>메시지</translation>
        </message>
        <message>
            <source>Message — Ctrl+Enter sends, Enter breaks the line</source>
            <translation>메시지 — Ctrl+Enter로 보내고, Enter로 줄을 바꿉니다</translation>
        </message>
        <message>
            <source>Message — Enter sends, Shift+Enter breaks the line</source>
            <translation>메시지 — Enter로 전송, Shift+Enter로 줄바꿈</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>전송</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>중지</translation>
        </message>
    </context>
    <context>
        <name>CopyButton</name>
        <message>
            <source>Copied</source>
            <translation>복사됨</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>복사</translation>
        </message>
    </context>
    <context>
        <name>Decoration</name>
        <message>
            <source>Code</source>
            <translation>코드</translation>
        </message>
    </context>
    <context>
        <name>DownloadIndicator</name>
        <message>
            <source>Download paused</source>
            <translation>다운로드 일시 정지됨</translation>
        </message>
        <message>
            <source>Download stopped</source>
            <translation>다운로드 중단됨</translation>
        </message>
        <message>
            <source>Downloads</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Model ready</source>
            <translation>모델 준비됨</translation>
        </message>
        <message>
            <source>cancelled</source>
            <translation>취소됨</translation>
        </message>
        <message>
            <source>downloading</source>
            <translation>다운로드 중</translation>
        </message>
        <message>
            <source>not finished</source>
            <translation>끝나지 않음</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>일시 정지됨</translation>
        </message>
        <message>
            <source>ready</source>
            <translation>준비됨</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>중단됨</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
    </context>
    <context>
        <name>DownloadPage</name>
        <message>
            <source>Download</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Downloads</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Nothing is being downloaded. Go back to choose a model.</source>
            <translation>다운로드 중인 것이 없습니다. 뒤로 가서 모델을 고르세요.</translation>
        </message>
        <message>
            <source>You may close this window and chat: downloads go on, and the button at the head of the chat brings you back. If the program ends, they go on where they were when it starts again.</source>
            <translation>이 창을 닫고 대화해도 됩니다. 다운로드는 계속되고, 대화 위쪽의 버튼으로 여기에 돌아올 수 있습니다. 프로그램이 끝나면 다음에 시작할 때 멈춘 곳부터 이어집니다.</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>Ask the model something</source>
            <translation>모델에게 무엇이든 물어보세요</translation>
        </message>
        <message>
            <source>Everything runs on this machine, and nothing you type leaves it. A drafter guesses many ways the answer may go on; the target checks them all in one pass and keeps what it would have said itself. The panel on the right shows the guesses as a token tree.</source>
            <translation>모든 것이 이 컴퓨터에서 실행되며, 입력한 내용은 밖으로 나가지 않습니다. 드래프터가 답변이 이어질 여러 갈래를 추측하면, 타깃이 한 번의 패스로 모두 검사하고 스스로 말했을 것만 남깁니다. 오른쪽 패널에서 그 추측을 토큰 트리로 볼 수 있습니다.</translation>
        </message>
        <message>
            <source>Explain speculative decoding in three sentences</source>
            <translation>추측 디코딩을 세 문장으로 설명해 줘</translation>
        </message>
        <message>
            <source>Suggest a name and a slogan for a small bakery by the sea</source>
            <translation>바닷가 작은 빵집의 이름과 슬로건을 지어 줘</translation>
        </message>
        <message>
            <source>Suggestion: {}</source>
            <translation>제안: {}</translation>
        </message>
        <message>
            <source>Write a Python function that finds the longest common prefix of a list of strings</source>
            <translation>문자열 목록에서 가장 긴 공통 접두사를 찾는 Python 함수를 작성해 줘</translation>
        </message>
    </context>
    <context>
        <name>EnginePage</name>
        <message>
            <source>Change the backend</source>
            <translation>백엔드 바꾸기</translation>
        </message>
        <message>
            <source>In use</source>
            <translation>사용 중</translation>
        </message>
        <message>
            <source>PyTorch</source>
            <translation>PyTorch</translation>
        </message>
        <message>
            <source>Repair</source>
            <translation>복구</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>크기</translation>
        </message>
        <message>
            <source>The model in use is unloaded meanwhile. The engine that you have stays in use until the new one has answered.</source>
            <translation>그동안 사용 중인 모델은 내려집니다. 새 엔진이 답할 때까지 지금의 엔진을 계속 사용합니다.</translation>
        </message>
        <message>
            <source>missing: repair it</source>
            <translation>없습니다. 복구하세요</translation>
        </message>
        <message>
            <source>of an earlier version: repair it</source>
            <translation>이전 버전의 것입니다. 복구하세요</translation>
        </message>
    </context>
    <context>
        <name>Foot</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>Find an option</source>
            <translation>옵션 찾기</translation>
        </message>
        <message>
            <source>No option is called so.</source>
            <translation>그런 이름의 옵션이 없습니다.</translation>
        </message>
    </context>
    <context>
        <name>Found</name>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>Last used</source>
            <translation>마지막 사용</translation>
        </message>
        <message>
            <source>Messages</source>
            <translation>메시지</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>You</source>
            <translation>나</translation>
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>Begin a new chat (Ctrl+N)</source>
            <translation>새 대화 시작 (Ctrl+N)</translation>
        </message>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>Chats (Ctrl+B)</source>
            <translation>대화 목록 (Ctrl+B)</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Export all chats…</source>
            <translation>모든 대화 내보내기…</translation>
        </message>
        <message>
            <source>Folders, import, export, keys, logs</source>
            <translation>폴더, 가져오기, 내보내기, 단축키, 로그</translation>
        </message>
        <message>
            <source>Import chats…</source>
            <translation>대화 가져오기…</translation>
        </message>
        <message>
            <source>Keyboard…</source>
            <translation>단축키…</translation>
        </message>
        <message>
            <source>Model: {}</source>
            <translation>모델: {}</translation>
        </message>
        <message>
            <source>More</source>
            <translation>더 보기</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>새 대화</translation>
        </message>
        <message>
            <source>New chat (Ctrl+N)</source>
            <translation>새 대화 (Ctrl+N)</translation>
        </message>
        <message>
            <source>New folder</source>
            <translation>새 폴더</translation>
        </message>
        <message>
            <source>Open the logs</source>
            <translation>로그 열기</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>검색</translation>
        </message>
        <message>
            <source>Search all chats (Ctrl+K)</source>
            <translation>모든 대화 검색 (Ctrl+K)</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>설정</translation>
        </message>
        <message>
            <source>Settings (Ctrl+,)</source>
            <translation>설정 (Ctrl+,)</translation>
        </message>
        <message>
            <source>Token tree</source>
            <translation>토큰 트리</translation>
        </message>
        <message>
            <source>Token tree (Ctrl+T)</source>
            <translation>토큰 트리 (Ctrl+T)</translation>
        </message>
        <message>
            <source>{}: choose another model</source>
            <translation>{}: 다른 모델 선택</translation>
        </message>
    </context>
    <context>
        <name>Histogram</name>
        <message>
            <source>Accepted lengths</source>
            <translation>채택된 길이</translation>
        </message>
        <message>
            <source>{} accepted: {} times</source>
            <translation>{}개 채택: {}번</translation>
        </message>
    </context>
    <context>
        <name>HubSearch</name>
        <message>
            <source>Asking the Hub</source>
            <translation>Hub에 묻는 중</translation>
        </message>
        <message>
            <source>Choose one and press Enter.</source>
            <translation>하나를 고르고 Enter를 누르세요.</translation>
        </message>
        <message>
            <source>Find</source>
            <translation>찾기</translation>
        </message>
        <message>
            <source>Models that were found</source>
            <translation>찾은 모델</translation>
        </message>
        <message>
            <source>Name or address of a model, or words to search for</source>
            <translation>모델의 이름이나 주소, 또는 검색어</translation>
        </message>
        <message>
            <source>Paste the name or the address of a model from huggingface.co, or search. Its forms are shown, and a draft that goes with it is looked for.</source>
            <translation>huggingface.co의 모델 이름이나 주소를 붙여넣거나 검색하세요. 모델의 형식이 표시되고, 함께 쓸 드래프트를 찾습니다.</translation>
        </message>
        <message>
            <source>The Hub has nothing of that name. Check the spelling, or use fewer words.</source>
            <translation>Hub에 그런 이름이 없습니다. 철자를 확인하거나 단어를 줄여 보세요.</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
        <message>
            <source>account needed</source>
            <translation>계정 필요</translation>
        </message>
        <message>
            <source>owner/name, an address on huggingface.co, or words to search for</source>
            <translation>소유자/이름, huggingface.co 주소 또는 검색어</translation>
        </message>
        <message>
            <source>{} downloads</source>
            <translation>다운로드 {}회</translation>
        </message>
    </context>
    <context>
        <name>ImportBar</name>
        <message>
            <source>Importing: {} of {} chats</source>
            <translation>가져오는 중: 대화 {} / {}</translation>
        </message>
        <message>
            <source>Progress of the import</source>
            <translation>가져오기 진행률</translation>
        </message>
        <message>
            <source>Reading {}…</source>
            <translation>{} 읽는 중…</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>중지</translation>
        </message>
        <message>
            <source>Stop the import</source>
            <translation>가져오기 중지</translation>
        </message>
    </context>
    <context>
        <name>Importing</name>
        <message>
            <source>Free some memory and try again.</source>
            <translation>메모리를 비우고 다시 시도하세요.</translation>
        </message>
        <message>
            <source>Free some memory and try again; a smaller part of the file may work.</source>
            <translation>메모리를 비우고 다시 시도하세요. 파일을 더 작게 나누면 될 수도 있습니다.</translation>
        </message>
        <message>
            <source>Reading {} ended unexpectedly.</source>
            <translation>{} 읽기가 예기치 않게 끝났습니다.</translation>
        </message>
    </context>
    <context>
        <name>IterationBars</name>
        <message>
            <source>No iterations yet.</source>
            <translation>아직 반복이 없습니다.</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>각 반복에 걸린 시간(초)</translation>
        </message>
        <message>
            <source>highest {} s</source>
            <translation>최고 {}초</translation>
        </message>
    </context>
    <context>
        <name>KeyboardPage</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Keyboard</source>
            <translation>단축키</translation>
        </message>
    </context>
    <context>
        <name>LayerStrip</name>
        <message>
            <source>Layers of the pass under way</source>
            <translation>진행 중인 패스의 레이어</translation>
        </message>
        <message>
            <source>layer {} of {}</source>
            <translation>레이어 {} / {}</translation>
        </message>
    </context>
    <context>
        <name>MachinePage</name>
        <message>
            <source>1 core</source>
            <translation>코어 1개</translation>
        </message>
        <message>
            <source>Disk for models</source>
            <translation>모델용 디스크</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>Large models are shared between graphics card, memory and disk. How fast an answer comes depends on how much of each there is and how quickly the disk can be read.</source>
            <translation>큰 모델은 그래픽 카드, 메모리, 디스크에 나누어 둡니다. 답변이 얼마나 빠른지는 각각이 얼마나 있고 디스크를 얼마나 빨리 읽을 수 있는지에 달려 있습니다.</translation>
        </message>
        <message>
            <source>Measure again</source>
            <translation>다시 측정</translation>
        </message>
        <message>
            <source>Measuring</source>
            <translation>측정 중</translation>
        </message>
        <message>
            <source>Measuring how fast the disk is; a few seconds. You can go on meanwhile.</source>
            <translation>디스크 속도를 측정하는 중입니다. 몇 초 걸립니다. 그동안 계속해도 됩니다.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>None that can compute</source>
            <translation>계산할 수 있는 것이 없음</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>프로세서</translation>
        </message>
        <message>
            <source>The processor does all the work, more slowly.</source>
            <translation>프로세서가 모든 일을 하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>This machine</source>
            <translation>이 컴퓨터</translation>
        </message>
        <message>
            <source>What this machine can do</source>
            <translation>이 컴퓨터가 할 수 있는 것</translation>
        </message>
        <message>
            <source>its speed is not measured yet</source>
            <translation>속도는 아직 측정되지 않음</translation>
        </message>
        <message>
            <source>reads {} GB/s, measured</source>
            <translation>{} GB/s로 읽음, 측정값</translation>
        </message>
        <message>
            <source>takes in {} GB/s at most</source>
            <translation>최대 {} GB/s로 받음</translation>
        </message>
        <message>
            <source>takes in {} GB/s, measured</source>
            <translation>{} GB/s로 받음, 측정값</translation>
        </message>
        <message>
            <source>{} cores</source>
            <translation>코어 {}개</translation>
        </message>
        <message>
            <source>{} free</source>
            <translation>{} 남음</translation>
        </message>
        <message>
            <source>{} of it free now</source>
            <translation>그중 {} 사용 가능</translation>
        </message>
        <message>
            <source>{} of its own memory, {} free now</source>
            <translation>자체 메모리 {}, 지금 {} 남음</translation>
        </message>
    </context>
    <context>
        <name>MemoryBars</name>
        <message>
            <source>Memory by tier</source>
            <translation>계층별 메모리</translation>
        </message>
        <message>
            <source>No model is loaded.</source>
            <translation>불러온 모델이 없습니다.</translation>
        </message>
        <message>
            <source>RAM</source>
            <translation>RAM</translation>
        </message>
        <message>
            <source>SSD, read in each pass</source>
            <translation>SSD, 패스마다 읽음</translation>
        </message>
        <message>
            <source>The engine never held more than {} of RAM, its program included.</source>
            <translation>엔진이 차지한 RAM은 프로그램을 포함해 {}을(를) 넘은 적이 없습니다.</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>VRAM</translation>
        </message>
        <message>
            <source>draft's KV cache</source>
            <translation>드래프트의 KV 캐시</translation>
        </message>
        <message>
            <source>draft's weights</source>
            <translation>드래프트의 가중치</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>slots for streamed weights</source>
            <translation>스트리밍 가중치용 슬롯</translation>
        </message>
        <message>
            <source>target's KV cache</source>
            <translation>타깃의 KV 캐시</translation>
        </message>
        <message>
            <source>target's weights</source>
            <translation>타깃의 가중치</translation>
        </message>
    </context>
    <context>
        <name>MessageActions</name>
        <message>
            <source>Again with the same seed</source>
            <translation>같은 시드로 다시</translation>
        </message>
        <message>
            <source>Again with the same seed and settings, and with the recorded budgets. With the same models the text is the same: in float32 always, in other number formats because the budgets are replayed.</source>
            <translation>같은 시드와 설정, 기록된 예산으로 다시 답합니다. 모델이 같으면 글도 같습니다. float32에서는 언제나 그렇고, 다른 수 형식에서는 예산을 그대로 되풀이하기 때문입니다.</translation>
        </message>
        <message>
            <source>Answer again, with another seed</source>
            <translation>다른 시드로 다시 답하기</translation>
        </message>
        <message>
            <source>Begin a new chat from here</source>
            <translation>여기서부터 새 대화 시작</translation>
        </message>
        <message>
            <source>Branch</source>
            <translation>분기</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>계속</translation>
        </message>
        <message>
            <source>Copy message</source>
            <translation>메시지 복사</translation>
        </message>
        <message>
            <source>Edit</source>
            <translation>편집</translation>
        </message>
        <message>
            <source>Edit and send again</source>
            <translation>편집해서 다시 전송</translation>
        </message>
        <message>
            <source>Go on with this answer</source>
            <translation>이 답변을 이어서 쓰기</translation>
        </message>
        <message>
            <source>Regenerate</source>
            <translation>다시 생성</translation>
        </message>
        <message>
            <source>Same seed</source>
            <translation>같은 시드</translation>
        </message>
    </context>
    <context>
        <name>MessageDocument</name>
        <message>
            <source>[image not loaded: {}]</source>
            <translation>[불러오지 않은 이미지: {}]</translation>
        </message>
    </context>
    <context>
        <name>MessageEditor</name>
        <message>
            <source>Cancel</source>
            <translation>취소</translation>
        </message>
        <message>
            <source>Change the message</source>
            <translation>메시지 고치기</translation>
        </message>
        <message>
            <source>Ctrl+Enter. The version before stays.</source>
            <translation>Ctrl+Enter. 이전 버전은 남습니다.</translation>
        </message>
        <message>
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>Send</source>
            <translation>전송</translation>
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Delete the model</source>
            <translation>모델 삭제</translation>
        </message>
        <message>
            <source>Delete {}?</source>
            <translation>{}을(를) 삭제할까요?</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>삭제…</translation>
        </message>
        <message>
            <source>Folder for models</source>
            <translation>모델을 둘 폴더</translation>
        </message>
        <message>
            <source>Folder of your models</source>
            <translation>모델 폴더</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>Models on this machine</source>
            <translation>이 컴퓨터의 모델</translation>
        </message>
        <message>
            <source>Move your models to another folder</source>
            <translation>모델을 다른 폴더로 옮기기</translation>
        </message>
        <message>
            <source>Move…</source>
            <translation>옮기기…</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>모델을 옮기는 중</translation>
        </message>
        <message>
            <source>None yet: a click on the model's name (Ctrl+M) leads to the downloads.</source>
            <translation>아직 없습니다. 모델 이름을 누르면(Ctrl+M) 내려받기로 갈 수 있습니다.</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>열기</translation>
        </message>
        <message>
            <source>Open the folder of your models</source>
            <translation>모델 폴더 열기</translation>
        </message>
        <message>
            <source>This frees {}.</source>
            <translation>{}가 비워집니다.</translation>
        </message>
        <message>
            <source>{} models, {}</source>
            <translation>모델 {}개, {}</translation>
        </message>
        <message>
            <source>{} says where models lie.</source>
            <translation>{}이(가) 모델의 위치를 정합니다.</translation>
        </message>
    </context>
    <context>
        <name>NoteBar</name>
        <message>
            <source>Undo</source>
            <translation>실행 취소</translation>
        </message>
    </context>
    <context>
        <name>Notice</name>
        <message>
            <source>Problem: {}</source>
            <translation>문제: {}</translation>
        </message>
    </context>
    <context>
        <name>Page</name>
        <message>
            <source>Next</source>
            <translation>다음</translation>
        </message>
    </context>
    <context>
        <name>PairModel</name>
        <message>
            <source>A small model that guesses ahead, so that the large one answers sooner.</source>
            <translation>앞서 추측해 큰 모델이 더 빨리 답하게 하는 작은 모델.</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>Estimated for this machine. People read about 5 tokens a second.</source>
            <translation>이 컴퓨터에서의 추정치. 사람은 초당 약 5토큰을 읽습니다.</translation>
        </message>
        <message>
            <source>Estimated, after a question of 1,000 tokens.</source>
            <translation>1,000토큰 질문 뒤의 추정치.</translation>
        </message>
        <message>
            <source>First token</source>
            <translation>첫 토큰</translation>
        </message>
        <message>
            <source>Form</source>
            <translation>형식</translation>
        </message>
        <message>
            <source>How its numbers are stored: fewer bits, smaller download.</source>
            <translation>숫자를 저장하는 방식: 비트가 적을수록 다운로드가 작습니다.</translation>
        </message>
        <message>
            <source>Licence</source>
            <translation>라이선스</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>Runs in</source>
            <translation>실행 위치</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>토큰/초</translation>
        </message>
        <message>
            <source>none</source>
            <translation>없음</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>이 컴퓨터에 있음</translation>
        </message>
    </context>
    <context>
        <name>Panel</name>
        <message>
            <source>As text</source>
            <translation>텍스트로</translation>
        </message>
        <message>
            <source>By who proposed each token; point at one for what else might have come</source>
            <translation>각 토큰을 누가 제안했는지에 따라 색을 칠합니다. 토큰을 가리키면 다른 후보가 보입니다</translation>
        </message>
        <message>
            <source>Colour the answer</source>
            <translation>답변에 색 입히기</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>내보내기</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>시간</translation>
        </message>
        <message>
            <source>Token tree and figures</source>
            <translation>토큰 트리와 수치</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>트리</translation>
        </message>
        <message>
            <source>Why this fast</source>
            <translation>속도의 이유</translation>
        </message>
    </context>
    <context>
        <name>PastedText</name>
        <message>
            <source>Pasted: “{}…”, {} characters</source>
            <translation>붙여넣음: “{}…”, {}자</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>제거</translation>
        </message>
        <message>
            <source>Remove the pasted text</source>
            <translation>붙여넣은 텍스트 제거</translation>
        </message>
    </context>
    <context>
        <name>Picker</name>
        <message>
            <source>As it is set now</source>
            <translation>현재 설정대로</translation>
        </message>
        <message>
            <source>Download models…</source>
            <translation>모델 다운로드…</translation>
        </message>
        <message>
            <source>Find a model on this machine</source>
            <translation>이 컴퓨터에서 모델 찾기</translation>
        </message>
        <message>
            <source>Give its memory back</source>
            <translation>차지한 메모리를 돌려줍니다</translation>
        </message>
        <message>
            <source>Load again</source>
            <translation>다시 불러오기</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>Models (*.gguf config.json)</source>
            <translation>모델 (*.gguf config.json)</translation>
        </message>
        <message>
            <source>None yet: download one, or open a file.</source>
            <translation>아직 없습니다. 하나를 다운로드하거나 파일을 여세요.</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>이 컴퓨터의 모델</translation>
        </message>
        <message>
            <source>Open file…</source>
            <translation>파일 열기…</translation>
        </message>
        <message>
            <source>Open model</source>
            <translation>모델 열기</translation>
        </message>
        <message>
            <source>Recent</source>
            <translation>최근</translation>
        </message>
        <message>
            <source>The model that comes with the program</source>
            <translation>프로그램에 포함된 모델</translation>
        </message>
        <message>
            <source>Unload</source>
            <translation>내리기</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>드래프트 {}</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>드래프트 모델 없음</translation>
        </message>
        <message>
            <source>with the best draft here</source>
            <translation>여기 있는 가장 좋은 드래프트와 함께</translation>
        </message>
    </context>
    <context>
        <name>Plans</name>
        <message>
            <source>about {} tokens/s</source>
            <translation>약 {} 토큰/초</translation>
        </message>
        <message>
            <source>fits RAM</source>
            <translation>RAM에 들어감</translation>
        </message>
        <message>
            <source>fits VRAM</source>
            <translation>VRAM에 들어감</translation>
        </message>
        <message>
            <source>in VRAM and RAM</source>
            <translation>VRAM과 RAM에 나눔</translation>
        </message>
        <message>
            <source>streamed from the disk</source>
            <translation>디스크에서 스트리밍</translation>
        </message>
        <message>
            <source>too large for this machine</source>
            <translation>이 컴퓨터에는 너무 큼</translation>
        </message>
    </context>
    <context>
        <name>PresetsPage</name>
        <message>
            <source>A preset keeps a chat's settings under a name, to use them again elsewhere.</source>
            <translation>프리셋은 대화의 설정에 이름을 붙여 저장해, 다른 곳에서 다시 쓰게 해 줍니다.</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Delete the preset {}?</source>
            <translation>프리셋 {}을(를) 삭제할까요?</translation>
        </message>
        <message>
            <source>Export preset</source>
            <translation>프리셋 내보내기</translation>
        </message>
        <message>
            <source>Exported to {}</source>
            <translation>{}(으)로 내보냄</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>내보내기…</translation>
        </message>
        <message>
            <source>Import preset</source>
            <translation>프리셋 가져오기</translation>
        </message>
        <message>
            <source>Import…</source>
            <translation>가져오기…</translation>
        </message>
        <message>
            <source>Name of the preset</source>
            <translation>프리셋 이름</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>프리셋</translation>
        </message>
        <message>
            <source>Save preset</source>
            <translation>프리셋 저장</translation>
        </message>
        <message>
            <source>Save this chat's…</source>
            <translation>이 대화의 설정 저장…</translation>
        </message>
        <message>
            <source>There is a preset called {}. Replace it?</source>
            <translation>{}(이)라는 프리셋이 이미 있습니다. 바꿀까요?</translation>
        </message>
        <message>
            <source>Use for new chats</source>
            <translation>새 대화에 사용</translation>
        </message>
        <message>
            <source>Use in this chat</source>
            <translation>이 대화에 사용</translation>
        </message>
        <message>
            <source>{} cannot be written: {}</source>
            <translation>{}에 쓸 수 없음: {}</translation>
        </message>
    </context>
    <context>
        <name>ProgressView</name>
        <message>
            <source>Cancel</source>
            <translation>취소</translation>
        </message>
        <message>
            <source>Cancel and delete</source>
            <translation>취소하고 삭제</translation>
        </message>
        <message>
            <source>Cancel {}?</source>
            <translation>{} 다운로드를 취소할까요?</translation>
        </message>
        <message>
            <source>Complete: {}</source>
            <translation>완료: {}</translation>
        </message>
        <message>
            <source>Details</source>
            <translation>세부 정보</translation>
        </message>
        <message>
            <source>Details ({})</source>
            <translation>세부 정보 ({})</translation>
        </message>
        <message>
            <source>Go on</source>
            <translation>계속</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>Not begun</source>
            <translation>시작 안 함</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>일시 정지</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>일시 정지됨</translation>
        </message>
        <message>
            <source>Progress of {}</source>
            <translation>{} 진행률</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>중단됨</translation>
        </message>
        <message>
            <source>The {} that are already here are deleted.</source>
            <translation>이미 받은 {}이(가) 삭제됩니다.</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
        <message>
            <source>Working…</source>
            <translation>작업 중…</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
        <message>
            <source>{} left</source>
            <translation>{} 남음</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
        <message>
            <source>{}/s</source>
            <translation>{}/초</translation>
        </message>
    </context>
    <context>
        <name>QuestionView</name>
        <message>
            <source>The first {} of {} characters are shown; all were sent.</source>
            <translation>{1}자 중 처음 {0}자만 표시됩니다. 모두 전송되었습니다.</translation>
        </message>
        <message>
            <source>Your message</source>
            <translation>내 메시지</translation>
        </message>
    </context>
    <context>
        <name>ReadyPage</name>
        <message>
            <source>Every byte arrived as its authors published it: its checksums were compared. Loading takes a few seconds to a few minutes; then you can chat, also without the Internet.</source>
            <translation>모든 바이트가 제작자가 공개한 그대로 도착했습니다. 체크섬을 비교했습니다. 불러오는 데 몇 초에서 몇 분이 걸립니다. 그다음에는 인터넷 없이도 대화할 수 있습니다.</translation>
        </message>
        <message>
            <source>It is ready</source>
            <translation>준비되었습니다</translation>
        </message>
        <message>
            <source>Load it now</source>
            <translation>지금 불러오기</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>준비</translation>
        </message>
    </context>
    <context>
        <name>Recommended</name>
        <message>
            <source>Recommended for this machine</source>
            <translation>이 컴퓨터에 추천</translation>
        </message>
        <message>
            <source>Take the recommended model, {}</source>
            <translation>추천 모델 선택, {}</translation>
        </message>
        <message>
            <source>Take this one</source>
            <translation>이것으로 선택</translation>
        </message>
        <message>
            <source>already on this machine</source>
            <translation>이미 이 컴퓨터에 있음</translation>
        </message>
        <message>
            <source>{} to download</source>
            <translation>다운로드 {}</translation>
        </message>
    </context>
    <context>
        <name>Reports</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Load again</source>
            <translation>다시 불러오기</translation>
        </message>
        <message>
            <source>Open its log</source>
            <translation>로그 열기</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>엔진 다시 시작</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
    </context>
    <context>
        <name>RepositoryView</name>
        <message>
            <source>Checking whether {} fits…</source>
            <translation>{}이(가) 맞는지 확인하는 중…</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>Forms of this model</source>
            <translation>이 모델의 형식</translation>
        </message>
        <message>
            <source>How fast it is, shows when it is loaded: the list does not have this pair.</source>
            <translation>속도는 불러온 뒤에 알 수 있습니다. 이 조합은 목록에 없습니다.</translation>
        </message>
        <message>
            <source>No draft</source>
            <translation>드래프트 없음</translation>
        </message>
        <message>
            <source>No draft for it is known. Without one it answers all the same, only slower.</source>
            <translation>알려진 드래프트가 없습니다. 없어도 답합니다. 다만 더 느립니다.</translation>
        </message>
        <message>
            <source>Whether the draft fits could not be checked: {}</source>
            <translation>드래프트가 맞는지 확인할 수 없었습니다: {}</translation>
        </message>
        <message>
            <source>Without a draft it answers all the same, only slower.</source>
            <translation>드래프트가 없어도 답합니다. 다만 더 느립니다.</translation>
        </message>
        <message>
            <source>account needed</source>
            <translation>계정 필요</translation>
        </message>
        <message>
            <source>as its authors published it</source>
            <translation>제작자가 공개한 그대로</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>이 컴퓨터에 있음</translation>
        </message>
    </context>
    <context>
        <name>Row</name>
        <message>
            <source>Not in use: {}</source>
            <translation>적용되지 않음: {}</translation>
        </message>
        <message>
            <source>Set back</source>
            <translation>되돌리기</translation>
        </message>
        <message>
            <source>Set back: {}</source>
            <translation>되돌리기: {}</translation>
        </message>
        <message>
            <source>{} Counts when the model is loaded again.</source>
            <translation>{} 모델을 다시 불러올 때 적용됩니다.</translation>
        </message>
    </context>
    <context>
        <name>RunPage</name>
        <message>
            <source>Copy the table</source>
            <translation>표 복사</translation>
        </message>
        <message>
            <source>Iterations of the answer</source>
            <translation>답변의 반복</translation>
        </message>
        <message>
            <source>Run as JSON…</source>
            <translation>실행 기록을 JSON으로…</translation>
        </message>
        <message>
            <source>Tree as PNG…</source>
            <translation>트리를 PNG로…</translation>
        </message>
        <message>
            <source>Tree as SVG…</source>
            <translation>트리를 SVG로…</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>채택</translation>
        </message>
        <message>
            <source>iteration</source>
            <translation>반복</translation>
        </message>
        <message>
            <source>nodes</source>
            <translation>노드</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>초</translation>
        </message>
        <message>
            <source>text</source>
            <translation>텍스트</translation>
        </message>
        <message>
            <source>waited, s</source>
            <translation>대기, 초</translation>
        </message>
    </context>
    <context>
        <name>SearchPalette</name>
        <message>
            <source>Search all chats</source>
            <translation>모든 대화 검색</translation>
        </message>
        <message>
            <source>The arrow keys move through what is found; Enter opens it.</source>
            <translation>화살표 키로 찾은 항목 사이를 움직이고, Enter로 엽니다.</translation>
        </message>
        <message>
            <source>What was found</source>
            <translation>찾은 항목</translation>
        </message>
        <message>
            <source>↑ ↓ choose     Enter opens     Esc closes</source>
            <translation>↑ ↓ 선택     Enter 열기     Esc 닫기</translation>
        </message>
    </context>
    <context>
        <name>SettingsDialog</name>
        <message>
            <source>About</source>
            <translation>정보</translation>
        </message>
        <message>
            <source>Appearance</source>
            <translation>모양</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>엔진</translation>
        </message>
        <message>
            <source>Load the model again now</source>
            <translation>지금 모델 다시 불러오기</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>New chats</source>
            <translation>새 대화</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>프리셋</translation>
        </message>
        <message>
            <source>Set all back</source>
            <translation>모두 되돌리기</translation>
        </message>
        <message>
            <source>Set all back to those of new chats</source>
            <translation>모두 새 대화의 값으로 되돌리기</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>설정</translation>
        </message>
        <message>
            <source>This chat</source>
            <translation>이 대화</translation>
        </message>
    </context>
    <context>
        <name>SetupPage</name>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>엔진</translation>
        </message>
        <message>
            <source>Set it up</source>
            <translation>설치</translation>
        </message>
        <message>
            <source>Set it up ({})</source>
            <translation>설치 ({})</translation>
        </message>
        <message>
            <source>Set up the engine</source>
            <translation>엔진 설치</translation>
        </message>
        <message>
            <source>Setting up…</source>
            <translation>설치 중…</translation>
        </message>
        <message>
            <source>The engine is ready. A small model came with this program: close this window and chat, or choose a larger one.</source>
            <translation>엔진이 준비되었습니다. 이 프로그램에는 작은 모델이 들어 있습니다. 이 창을 닫고 대화하거나 더 큰 모델을 고르세요.</translation>
        </message>
        <message>
            <source>What computes the answers depends on this machine, so it is fetched now, once: PyTorch and what belongs to it. You may close this window meanwhile.</source>
            <translation>답변을 계산하는 부분은 이 컴퓨터에 따라 다르므로 지금 한 번 받습니다. PyTorch와 그에 딸린 패키지입니다. 그동안 이 창을 닫아도 됩니다.</translation>
        </message>
    </context>
    <context>
        <name>SetupView</name>
        <message>
            <source>All files (*)</source>
            <translation>모든 파일 (*)</translation>
        </message>
        <message>
            <source>From a file…</source>
            <translation>파일에서…</translation>
        </message>
        <message>
            <source>Mirror and proxy</source>
            <translation>미러와 프록시</translation>
        </message>
        <message>
            <source>Runtime file, or the first of its parts</source>
            <translation>런타임 파일 또는 그 첫 번째 조각</translation>
        </message>
        <message>
            <source>Runtime files (*.zip *.zip.001)</source>
            <translation>런타임 파일 (*.zip *.zip.001)</translation>
        </message>
        <message>
            <source>Set up from a runtime file, without a network</source>
            <translation>네트워크 없이 런타임 파일로 설치</translation>
        </message>
        <message>
            <source>{} are needed, and only {} are free: make room first.</source>
            <translation>{}이(가) 필요한데 {}만 비어 있습니다. 먼저 공간을 만드세요.</translation>
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>Open the folder</source>
            <translation>폴더 열기</translation>
        </message>
        <message>
            <source>Saved as {}</source>
            <translation>{}(으)로 저장됨</translation>
        </message>
        <message>
            <source>Your chats will be listed here.

Chats from ChatGPT can be imported: see “⋯” above.</source>
            <translation>여기에 대화가 나열됩니다.

ChatGPT의 대화도 가져올 수 있습니다. 위의 “⋯”를 보세요.</translation>
        </message>
    </context>
    <context>
        <name>SourcesView</name>
        <message>
            <source>Every package is compared with the checksum that this program came with, wherever it comes from.</source>
            <translation>패키지를 어디에서 받든 이 프로그램에 들어 있는 체크섬과 비교합니다.</translation>
        </message>
        <message>
            <source>It begins with {}.</source>
            <translation>주소는 {}(으)로 시작합니다.</translation>
        </message>
        <message>
            <source>Mirror of PyTorch's index</source>
            <translation>PyTorch 색인의 미러</translation>
        </message>
        <message>
            <source>Mirror of the package index</source>
            <translation>패키지 색인의 미러</translation>
        </message>
        <message>
            <source>Proxy</source>
            <translation>프록시</translation>
        </message>
        <message>
            <source>{}: “{}” is no address.</source>
            <translation>{}: “{}”은(는) 주소가 아닙니다.</translation>
        </message>
    </context>
    <context>
        <name>SpeedPage</name>
        <message>
            <source>A short answer without a draft: {} tokens. It is kept.</source>
            <translation>드래프트 없는 짧은 답변: {} 토큰. 결과는 저장됩니다.</translation>
        </message>
        <message>
            <source>Measure plain decoding here</source>
            <translation>여기서 일반 디코딩 측정</translation>
        </message>
        <message>
            <source>Measuring plain decoding…</source>
            <translation>일반 디코딩을 측정하는 중…</translation>
        </message>
        <message>
            <source>When an answer is whole, this page says why it was as fast as it was.</source>
            <translation>답변이 끝나면, 왜 그 속도였는지 여기서 설명합니다.</translation>
        </message>
        <message>
            <source>Why this fast</source>
            <translation>속도의 이유</translation>
        </message>
    </context>
    <context>
        <name>SpeedPlot</name>
        <message>
            <source>Tokens per second over time</source>
            <translation>시간에 따른 초당 토큰 수</translation>
        </message>
        <message>
            <source>last 30 s</source>
            <translation>최근 30초</translation>
        </message>
        <message>
            <source>now {} tokens/s, on the whole {} tokens/s</source>
            <translation>지금 {} 토큰/초, 전체 {} 토큰/초</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>초</translation>
        </message>
        <message>
            <source>whole answer</source>
            <translation>답변 전체</translation>
        </message>
    </context>
    <context>
        <name>SplitBar</name>
        <message>
            <source>Where the time went</source>
            <translation>시간이 쓰인 곳</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>other</source>
            <translation>기타</translation>
        </message>
        <message>
            <source>target</source>
            <translation>타깃</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>대기</translation>
        </message>
    </context>
    <context>
        <name>StatsPanel</name>
        <message>
            <source>drafter {}</source>
            <translation>드래프터 {}</translation>
        </message>
        <message>
            <source>drafter {}, budget {}</source>
            <translation>드래프터 {}, 예산 {}</translation>
        </message>
        <message>
            <source>s to first token</source>
            <translation>첫 토큰까지 초</translation>
        </message>
        <message>
            <source>tokens per pass</source>
            <translation>패스당 토큰</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>토큰/초</translation>
        </message>
    </context>
    <context>
        <name>StatusLine</name>
        <message>
            <source>Answering…</source>
            <translation>답변하는 중…</translation>
        </message>
        <message>
            <source>Iteration {}</source>
            <translation>반복 {}</translation>
        </message>
        <message>
            <source>Loading the model…</source>
            <translation>모델을 불러오는 중…</translation>
        </message>
        <message>
            <source>Progress</source>
            <translation>진행률</translation>
        </message>
        <message>
            <source>Reading the prompt: {} of {} tokens ({}%)</source>
            <translation>프롬프트 읽는 중: {} / {} 토큰 ({}%)</translation>
        </message>
        <message>
            <source>Reading the prompt…</source>
            <translation>프롬프트를 읽는 중…</translation>
        </message>
        <message>
            <source>Starting the engine…</source>
            <translation>엔진을 시작하는 중…</translation>
        </message>
        <message>
            <source>State</source>
            <translation>상태</translation>
        </message>
        <message>
            <source>Stopping…</source>
            <translation>중지하는 중…</translation>
        </message>
        <message>
            <source>at most {} more</source>
            <translation>길어야 {} 더</translation>
        </message>
        <message>
            <source>drafting, {} nodes</source>
            <translation>초안 작성, 노드 {}개</translation>
        </message>
        <message>
            <source>usually about {} more</source>
            <translation>보통 약 {} 더</translation>
        </message>
        <message>
            <source>verifying, layer {} of {}</source>
            <translation>검증, 레이어 {} / {}</translation>
        </message>
        <message>
            <source>{} h {} min</source>
            <translation>{}시간 {}분</translation>
        </message>
        <message>
            <source>{} min</source>
            <translation>{}분</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{}초</translation>
        </message>
        <message>
            <source>{} tokens/s</source>
            <translation>{} 토큰/초</translation>
        </message>
        <message>
            <source>● Ready</source>
            <translation>● 준비됨</translation>
        </message>
        <message>
            <source>✕ No model is loaded</source>
            <translation>✕ 불러온 모델이 없음</translation>
        </message>
        <message>
            <source>✕ The engine has stopped</source>
            <translation>✕ 엔진이 멈췄음</translation>
        </message>
    </context>
    <context>
        <name>Stepper</name>
        <message>
            <source>Fit the whole tree (0)</source>
            <translation>트리 전체 보기 (0)</translation>
        </message>
        <message>
            <source>Next iteration (Ctrl+Alt+Right)</source>
            <translation>다음 반복 (Ctrl+Alt+오른쪽)</translation>
        </message>
        <message>
            <source>Pause at this iteration (Alt+P)</source>
            <translation>이 반복에서 일시 정지 (Alt+P)</translation>
        </message>
        <message>
            <source>Previous iteration (Ctrl+Alt+Left)</source>
            <translation>이전 반복 (Ctrl+Alt+왼쪽)</translation>
        </message>
        <message>
            <source>Zoom in (+)</source>
            <translation>확대 (+)</translation>
        </message>
        <message>
            <source>Zoom out (−)</source>
            <translation>축소 (−)</translation>
        </message>
        <message>
            <source>held: {} of {}</source>
            <translation>멈춤: {} / {}</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
    </context>
    <context>
        <name>Steps</name>
        <message>
            <source>Step {} of {}: {}</source>
            <translation>{} / {} 단계: {}</translation>
        </message>
    </context>
    <context>
        <name>TextBody</name>
        <message>
            <source>Copy code</source>
            <translation>코드 복사</translation>
        </message>
        <message>
            <source>Formulas: {}</source>
            <translation>수식: {}</translation>
        </message>
    </context>
    <context>
        <name>ThoughtView</name>
        <message>
            <source>Hide the thought</source>
            <translation>생각 숨기기</translation>
        </message>
        <message>
            <source>Show the thought</source>
            <translation>생각 보기</translation>
        </message>
        <message>
            <source>Thinking…</source>
            <translation>생각하는 중…</translation>
        </message>
        <message>
            <source>Thought</source>
            <translation>생각</translation>
        </message>
        <message>
            <source>folded</source>
            <translation>접힘</translation>
        </message>
        <message>
            <source>unfolded</source>
            <translation>펼쳐짐</translation>
        </message>
    </context>
    <context>
        <name>TimePage</name>
        <message>
            <source>All weights are in memory: nothing is streamed.</source>
            <translation>모든 가중치가 메모리에 있어 스트리밍하지 않습니다.</translation>
        </message>
        <message>
            <source>Layers of the pass under way</source>
            <translation>진행 중인 패스의 레이어</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>각 반복에 걸린 시간(초)</translation>
        </message>
        <message>
            <source>Tokens accepted, how often</source>
            <translation>채택된 토큰 수와 횟수</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>토큰/초</translation>
        </message>
    </context>
    <context>
        <name>Transcript</name>
        <message>
            <source>Chat</source>
            <translation>대화</translation>
        </message>
        <message>
            <source>Earlier messages</source>
            <translation>이전 메시지</translation>
        </message>
        <message>
            <source>Jump to the end</source>
            <translation>끝으로 이동</translation>
        </message>
        <message>
            <source>↓ Jump to the end</source>
            <translation>↓ 끝으로 이동</translation>
        </message>
    </context>
    <context>
        <name>Tray</name>
        <message>
            <source>Quit</source>
            <translation>끝내기</translation>
        </message>
        <message>
            <source>Show the window</source>
            <translation>창 보이기</translation>
        </message>
        <message>
            <source>The answer is complete</source>
            <translation>답변이 끝났습니다</translation>
        </message>
    </context>
    <context>
        <name>TreeLegend</name>
        <message>
            <source>Legend of the token tree</source>
            <translation>토큰 트리 범례</translation>
        </message>
        <message>
            <source>accepted</source>
            <translation>채택</translation>
        </message>
        <message>
            <source>bonus token</source>
            <translation>보너스 토큰</translation>
        </message>
        <message>
            <source>drafted</source>
            <translation>제안됨</translation>
        </message>
        <message>
            <source>rejected</source>
            <translation>거부됨</translation>
        </message>
    </context>
    <context>
        <name>TreePage</name>
        <message>
            <source>It gave the answer: “{}”</source>
            <translation>답변에 더해진 것: “{}”</translation>
        </message>
        <message>
            <source>Iteration {}: {} drafted</source>
            <translation>반복 {}: {}개 제안</translation>
        </message>
        <message>
            <source>Iteration {}: {} of {} accepted</source>
            <translation>반복 {0}: {2}개 중 {1}개 채택</translation>
        </message>
        <message>
            <source>Point at a token, or walk to it by arrow keys.</source>
            <translation>토큰을 가리키거나 화살표 키로 이동하세요.</translation>
        </message>
        <message>
            <source>Token tree</source>
            <translation>토큰 트리</translation>
        </message>
        <message>
            <source>showing {} of {}</source>
            <translation>{1}개 중 {0}개 표시</translation>
        </message>
    </context>
    <context>
        <name>TreeView</name>
        <message>
            <source>The token tree appears here while the model answers.</source>
            <translation>모델이 답변하는 동안 토큰 트리가 여기에 나타납니다.</translation>
        </message>
        <message>
            <source>Token tree</source>
            <translation>토큰 트리</translation>
        </message>
    </context>
    <context>
        <name>UpdateNotice</name>
        <message>
            <source>Newer version: {}</source>
            <translation>새 버전: {}</translation>
        </message>
        <message>
            <source>There is a newer version of this program. Read about it</source>
            <translation>이 프로그램의 새 버전이 있습니다. 자세히 보기</translation>
        </message>
        <message>
            <source>Version {}</source>
            <translation>버전 {}</translation>
        </message>
    </context>
    <context>
        <name>WaitingList</name>
        <message>
            <source>Do not ask this</source>
            <translation>묻지 않기</translation>
        </message>
        <message>
            <source>Next: {}</source>
            <translation>다음: {}</translation>
        </message>
        <message>
            <source>Questions that wait</source>
            <translation>차례를 기다리는 질문</translation>
        </message>
    </context>
    <context>
        <name>WherePage</name>
        <message>
            <source>Asking the Hub…</source>
            <translation>Hub에 묻는 중…</translation>
        </message>
        <message>
            <source>Change folder…</source>
            <translation>폴더 변경…</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Folder for models</source>
            <translation>모델을 둘 폴더</translation>
        </message>
        <message>
            <source>Folder of your models</source>
            <translation>모델 폴더</translation>
        </message>
        <message>
            <source>Move them</source>
            <translation>옮기기</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>모델을 옮기는 중</translation>
        </message>
        <message>
            <source>The disk may be slow: models run best from an SSD inside this machine.</source>
            <translation>디스크가 느릴 수 있습니다. 모델은 이 컴퓨터 안의 SSD에서 가장 잘 실행됩니다.</translation>
        </message>
        <message>
            <source>The models you have ({}) move to {}.</source>
            <translation>지금 있는 모델({})을 {}(으)로 옮깁니다.</translation>
        </message>
        <message>
            <source>Too little room: {} are needed, and {} are free. Make room and come back to this page, choose a folder on another disk, or a smaller model.</source>
            <translation>공간이 부족합니다. {} 필요, {} 남음. 공간을 비우고 이 페이지로 돌아오거나, 다른 디스크의 폴더나 더 작은 모델을 고르세요.</translation>
        </message>
        <message>
            <source>What will be downloaded</source>
            <translation>다운로드할 것</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>위치</translation>
        </message>
        <message>
            <source>Where it will be kept</source>
            <translation>저장할 위치</translation>
        </message>
        <message>
            <source>{} are free, {} are needed.</source>
            <translation>{} 남음, {} 필요.</translation>
        </message>
        <message>
            <source>{} says where models lie.</source>
            <translation>{}이(가) 모델의 위치를 정합니다.</translation>
        </message>
    </context>
    <context>
        <name>Wizard</name>
        <message>
            <source>Back</source>
            <translation>뒤로</translation>
        </message>
        <message>
            <source>Get a model: {}</source>
            <translation>모델 받기: {}</translation>
        </message>
        <message>
            <source>Get another model</source>
            <translation>다른 모델 받기</translation>
        </message>
        <message>
            <source>Set up: {}</source>
            <translation>설치: {}</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
    </context>
    <context>
        <name>_Table</name>
        <message>
            <source>Models of the catalogue</source>
            <translation>카탈로그의 모델</translation>
        </message>
    </context>
    <context>
        <name>_Versions</name>
        <message>
            <source>Next version</source>
            <translation>다음 버전</translation>
        </message>
        <message>
            <source>Previous version</source>
            <translation>이전 버전</translation>
        </message>
        <message>
            <source>Version {} of {}</source>
            <translation>버전 {} / {}</translation>
        </message>
    </context>
    <context>
        <name>chat_options</name>
        <message>
            <source>Above 1: tokens that were there before become less likely.</source>
            <translation>1보다 크면 앞에 나온 토큰이 덜 나옵니다.</translation>
        </message>
        <message>
            <source>Added to the logits of tokens. On each line: the token's id, a colon, -1000 to 1000.</source>
            <translation>토큰의 로짓에 더합니다. 한 줄에 하나: 토큰 ID, 쌍점, -1000에서 1000까지.</translation>
        </message>
        <message>
            <source>An answer ends after this many tokens at the latest.</source>
            <translation>답변은 늦어도 이 토큰 수에서 끝납니다.</translation>
        </message>
        <message>
            <source>An answer ends before the first of these. One on each line; \n: a line break.</source>
            <translation>답변은 이 중 처음 나오는 것 앞에서 끝납니다. 한 줄에 하나, \n: 줄바꿈.</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>답변</translation>
        </message>
        <message>
            <source>Beams</source>
            <translation>빔</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>예산</translation>
        </message>
        <message>
            <source>Context</source>
            <translation>컨텍스트</translation>
        </message>
        <message>
            <source>Depth</source>
            <translation>깊이</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>Drafter</source>
            <translation>드래프터</translation>
        </message>
        <message>
            <source>Frequency penalty</source>
            <translation>빈도 페널티</translation>
        </message>
        <message>
            <source>How deep a token tree may grow.</source>
            <translation>토큰 트리가 자랄 수 있는 깊이.</translation>
        </message>
        <message>
            <source>How freely tokens are chosen. 0: always the likeliest one.</source>
            <translation>토큰을 얼마나 자유롭게 고를지. 0: 언제나 가장 유력한 토큰.</translation>
        </message>
        <message>
            <source>Keep how likely each token was, and this many other tokens beside it.</source>
            <translation>각 토큰의 확률과, 그 밖의 토큰을 이 개수만큼 함께 남깁니다.</translation>
        </message>
        <message>
            <source>Log-probabilities</source>
            <translation>로그 확률</translation>
        </message>
        <message>
            <source>Logit bias</source>
            <translation>로짓 편향</translation>
        </message>
        <message>
            <source>Longest answer</source>
            <translation>가장 긴 답변</translation>
        </message>
        <message>
            <source>Min-p</source>
            <translation>Min-p</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>Most nodes in a token tree. auto: what is fastest here, found while it answers.</source>
            <translation>토큰 트리의 최대 노드 수. 자동: 답변하면서 여기서 가장 빠른 값을 찾습니다.</translation>
        </message>
        <message>
            <source>Most tokens of the prompt and the answer together. More takes more memory.</source>
            <translation>프롬프트와 답변을 합한 최대 토큰 수. 클수록 메모리를 더 씁니다.</translation>
        </message>
        <message>
            <source>No token less likely than this part of the likeliest one.</source>
            <translation>가장 유력한 토큰의 확률에 이 비율을 곱한 것보다 낮은 토큰은 제외.</translation>
        </message>
        <message>
            <source>Nodes the draft expands in each round.</source>
            <translation>라운드마다 드래프트가 확장하는 노드 수.</translation>
        </message>
        <message>
            <source>Only the likeliest tokens that together have this probability. 1: all.</source>
            <translation>합해서 이 확률이 되는 가장 유력한 토큰들만. 1: 모두.</translation>
        </message>
        <message>
            <source>Only this many of the likeliest tokens.</source>
            <translation>가장 유력한 토큰을 이 개수만큼만.</translation>
        </message>
        <message>
            <source>Presence penalty</source>
            <translation>존재 페널티</translation>
        </message>
        <message>
            <source>Prompt</source>
            <translation>프롬프트</translation>
        </message>
        <message>
            <source>Repetition penalty</source>
            <translation>반복 페널티</translation>
        </message>
        <message>
            <source>Said to the model before everything else: who it is and how it answers.</source>
            <translation>다른 모든 것보다 먼저 모델에게 전합니다. 모델이 누구이고 어떻게 답할지 정합니다.</translation>
        </message>
        <message>
            <source>Sampling</source>
            <translation>샘플링</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>시드</translation>
        </message>
        <message>
            <source>Stop strings</source>
            <translation>중지 문자열</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>시스템 프롬프트</translation>
        </message>
        <message>
            <source>Taken off the logit of a token for each time it is in the answer already.</source>
            <translation>답변에 이미 나온 횟수만큼 토큰의 로짓에서 뺍니다.</translation>
        </message>
        <message>
            <source>Taken off the logit of each token that is in the answer already, once.</source>
            <translation>답변에 이미 나온 토큰의 로짓에서 한 번 뺍니다.</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>타깃</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>온도</translation>
        </message>
        <message>
            <source>The method that proposes tokens. It changes the speed, not what the target would say.</source>
            <translation>토큰을 제안하는 방법. 속도만 바꾸고, 타깃이 할 말은 바꾸지 않습니다.</translation>
        </message>
        <message>
            <source>The model that answers.</source>
            <translation>답변하는 모델.</translation>
        </message>
        <message>
            <source>The model that guesses ahead. It must number tokens as the target does.</source>
            <translation>앞서 추측하는 모델. 타깃과 같은 방식으로 토큰 번호를 매겨야 합니다.</translation>
        </message>
        <message>
            <source>The same seed with the same settings gives the same text in float32. Empty: a new one.</source>
            <translation>같은 시드와 같은 설정은 float32에서 같은 텍스트를 냅니다. 비워 두면 매번 새 시드.</translation>
        </message>
        <message>
            <source>Top-k</source>
            <translation>Top-k</translation>
        </message>
        <message>
            <source>Top-p</source>
            <translation>Top-p</translation>
        </message>
        <message>
            <source>auto</source>
            <translation>자동</translation>
        </message>
        <message>
            <source>none</source>
            <translation>없음</translation>
        </message>
        <message>
            <source>off</source>
            <translation>끔</translation>
        </message>
        <message>
            <source>the best one here</source>
            <translation>여기 있는 가장 좋은 것</translation>
        </message>
        <message>
            <source>the one that comes with the program</source>
            <translation>프로그램에 포함된 것</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>토큰</translation>
        </message>
        <message>
            <source>until the model ends</source>
            <translation>모델이 끝낼 때까지</translation>
        </message>
    </context>
    <context>
        <name>engine_words</name>
        <message>
            <source>AMD graphics card (ROCm)</source>
            <translation>AMD 그래픽 카드(ROCm)</translation>
        </message>
        <message>
            <source>Check the disk</source>
            <translation>디스크 확인</translation>
        </message>
        <message>
            <source>Disk</source>
            <translation>디스크</translation>
        </message>
        <message>
            <source>Engine: {}</source>
            <translation>엔진: {}</translation>
        </message>
        <message>
            <source>Get PyTorch</source>
            <translation>PyTorch 받기</translation>
        </message>
        <message>
            <source>Get the packages</source>
            <translation>패키지 받기</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>NVIDIA graphics card (CUDA)</source>
            <translation>NVIDIA 그래픽 카드(CUDA)</translation>
        </message>
        <message>
            <source>None that can compute</source>
            <translation>계산할 수 있는 것이 없음</translation>
        </message>
        <message>
            <source>Processor (CPU)</source>
            <translation>프로세서(CPU)</translation>
        </message>
        <message>
            <source>Switch to it</source>
            <translation>새 엔진으로 전환</translation>
        </message>
        <message>
            <source>Try it out: one product, one token</source>
            <translation>시험: 행렬 곱 한 번, 토큰 하나</translation>
        </message>
        <message>
            <source>Unpack the file</source>
            <translation>파일 풀기</translation>
        </message>
        <message>
            <source>driver {}</source>
            <translation>드라이버 {}</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>중단됨</translation>
        </message>
        <message>
            <source>{} free</source>
            <translation>{} 남음</translation>
        </message>
        <message>
            <source>{} to download, {} on the disk</source>
            <translation>다운로드 {}, 디스크 {}</translation>
        </message>
    </context>
    <context>
        <name>files</name>
        <message>
            <source>All files (*)</source>
            <translation>모든 파일 (*)</translation>
        </message>
        <message>
            <source>Chats (*.specexec-chat *.json *.zip)</source>
            <translation>대화 (*.specexec-chat *.json *.zip)</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>내보내기</translation>
        </message>
        <message>
            <source>Import chats exported here or from ChatGPT</source>
            <translation>여기서 또는 ChatGPT에서 내보낸 대화 가져오기</translation>
        </message>
        <message>
            <source>JSON, with every version (*.json)</source>
            <translation>JSON, 모든 버전 포함 (*.json)</translation>
        </message>
        <message>
            <source>Markdown (*.md)</source>
            <translation>Markdown (*.md)</translation>
        </message>
        <message>
            <source>PDF (*.pdf)</source>
            <translation>PDF (*.pdf)</translation>
        </message>
        <message>
            <source>Plain text (*.txt)</source>
            <translation>일반 텍스트 (*.txt)</translation>
        </message>
        <message>
            <source>Save as PDF</source>
            <translation>PDF로 저장</translation>
        </message>
        <message>
            <source>SpecExec Desktop chat, with every version (*.specexec-chat)</source>
            <translation>SpecExec Desktop 대화, 모든 버전 포함 (*.specexec-chat)</translation>
        </message>
    </context>
    <context>
        <name>headings</name>
        <message>
            <source>Folder {}</source>
            <translation>폴더 {}</translation>
        </message>
        <message>
            <source>New chat</source>
            <translation>새 대화</translation>
        </message>
        <message>
            <source>Pinned</source>
            <translation>고정됨</translation>
        </message>
        <message>
            <source>Previous 30 days</source>
            <translation>지난 30일</translation>
        </message>
        <message>
            <source>Previous 7 days</source>
            <translation>지난 7일</translation>
        </message>
        <message>
            <source>Today</source>
            <translation>오늘</translation>
        </message>
        <message>
            <source>Yesterday</source>
            <translation>어제</translation>
        </message>
        <message>
            <source>{month} {year}</source>
            <translation>{year}년 {month}</translation>
        </message>
    </context>
    <context>
        <name>import_bar</name>
        <message>
            <source>Import</source>
            <translation>가져오기</translation>
        </message>
        <message>
            <source>Imported 1 chat</source>
            <translation>대화 1개를 가져옴</translation>
        </message>
        <message>
            <source>Imported {} chats</source>
            <translation>대화 {}개를 가져옴</translation>
        </message>
        <message>
            <source>Stopped. {}</source>
            <translation>중지됨. {}</translation>
        </message>
        <message>
            <source>The rest of the file was imported. What could not be read:</source>
            <translation>파일의 나머지는 가져왔습니다. 읽을 수 없었던 것:</translation>
        </message>
        <message>
            <source>{} could not be read</source>
            <translation>{}개를 읽을 수 없었음</translation>
        </message>
    </context>
    <context>
        <name>link_question</name>
        <message>
            <source>Links of this kind are not opened.</source>
            <translation>이런 종류의 링크는 열지 않습니다.</translation>
        </message>
        <message>
            <source>Open this link in your browser?</source>
            <translation>이 링크를 브라우저에서 열까요?</translation>
        </message>
    </context>
    <context>
        <name>memory</name>
        <message>
            <source>RAM</source>
            <translation>RAM</translation>
        </message>
        <message>
            <source>RAM {}</source>
            <translation>RAM {}</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>VRAM</translation>
        </message>
        <message>
            <source>VRAM {}</source>
            <translation>VRAM {}</translation>
        </message>
        <message>
            <source>disk</source>
            <translation>디스크</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>slots of streamed layers</source>
            <translation>스트리밍 레이어용 슬롯</translation>
        </message>
        <message>
            <source>target</source>
            <translation>타깃</translation>
        </message>
        <message>
            <source>the draft's KV cache</source>
            <translation>드래프트의 KV 캐시</translation>
        </message>
        <message>
            <source>the target's KV cache</source>
            <translation>타깃의 KV 캐시</translation>
        </message>
        <message>
            <source>{} read from the disk in each pass</source>
            <translation>패스마다 디스크에서 {} 읽음</translation>
        </message>
    </context>
    <context>
        <name>node_words</name>
        <message>
            <source>Accepted.</source>
            <translation>채택됨.</translation>
        </message>
        <message>
            <source>Draft {}, target {}, its rank {}.</source>
            <translation>드래프트 {}, 타깃 {}, 타깃의 순위 {}.</translation>
        </message>
        <message>
            <source>Draft {}.</source>
            <translation>드래프트 {}.</translation>
        </message>
        <message>
            <source>Not judged yet.</source>
            <translation>아직 판정되지 않음.</translation>
        </message>
        <message>
            <source>Rejected: its parent was.</source>
            <translation>거부됨: 부모가 거부되었음.</translation>
        </message>
        <message>
            <source>Rejected: the answer ended before it.</source>
            <translation>거부됨: 그 전에 답변이 끝났음.</translation>
        </message>
        <message>
            <source>Rejected: the target went on with “{}”.</source>
            <translation>거부됨: 타깃은 “{}”(으)로 이어 갔음.</translation>
        </message>
        <message>
            <source>The target's own, for the work of checking was done.</source>
            <translation>타깃 자신의 토큰. 검사하는 김에 얻었습니다.</translation>
        </message>
        <message>
            <source>The target's own, {} probable to it.</source>
            <translation>타깃 자신의 토큰. 타깃이 본 확률 {}.</translation>
        </message>
        <message>
            <source>less than 0.1 %</source>
            <translation>0.1% 미만</translation>
        </message>
        <message>
            <source>nobody</source>
            <translation>없음</translation>
        </message>
        <message>
            <source>{} %</source>
            <translation>{}%</translation>
        </message>
        <message>
            <source>“{}”, token {}, proposed by: {}.</source>
            <translation>“{}”, 토큰 {}, 제안한 곳: {}.</translation>
        </message>
        <message>
            <source>“{}”, token {}: the bonus token. {}</source>
            <translation>“{}”, 토큰 {}: 보너스 토큰. {}</translation>
        </message>
        <message>
            <source>“{}”: the last token of the text so far; the tree grows from it.</source>
            <translation>“{}”: 지금까지 텍스트의 마지막 토큰. 여기서 트리가 자랍니다.</translation>
        </message>
    </context>
    <context>
        <name>program_options</name>
        <message>
            <source>Appearance and language</source>
            <translation>모양과 언어</translation>
        </message>
        <message>
            <source>Ask GitHub once a day whether there is a newer version, and say so. Nothing is downloaded.</source>
            <translation>하루에 한 번 새 버전이 있는지 GitHub에 물어보고 알립니다. 아무것도 내려받지 않습니다.</translation>
        </message>
        <message>
            <source>Compute device</source>
            <translation>연산 장치</translation>
        </message>
        <message>
            <source>Computing</source>
            <translation>연산</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Ctrl+Enter</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Enter</translation>
        </message>
        <message>
            <source>GiB</source>
            <translation>GiB</translation>
        </message>
        <message>
            <source>Habits</source>
            <translation>사용 습관</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>언어</translation>
        </message>
        <message>
            <source>Less motion</source>
            <translation>움직임 줄이기</translation>
        </message>
        <message>
            <source>Light or dark.</source>
            <translation>밝게 또는 어둡게.</translation>
        </message>
        <message>
            <source>Memory limits</source>
            <translation>메모리 한도</translation>
        </message>
        <message>
            <source>New versions</source>
            <translation>새 버전</translation>
        </message>
        <message>
            <source>Nothing glides or fades; the token tree shows each iteration's end only.</source>
            <translation>미끄러지거나 흐려지는 효과가 없고, 토큰 트리는 각 반복의 끝만 보여 줍니다.</translation>
        </message>
        <message>
            <source>Notifications</source>
            <translation>알림</translation>
        </message>
        <message>
            <source>Number format</source>
            <translation>숫자 형식</translation>
        </message>
        <message>
            <source>Of the window. Models answer in the language you write in.</source>
            <translation>창의 언어. 모델은 사용자가 쓰는 언어로 답합니다.</translation>
        </message>
        <message>
            <source>RAM for the target</source>
            <translation>타깃에 쓸 RAM</translation>
        </message>
        <message>
            <source>Say when a long answer is complete and the window is not in front.</source>
            <translation>긴 답변이 끝났고 창이 앞에 있지 않을 때 알립니다.</translation>
        </message>
        <message>
            <source>Send with</source>
            <translation>전송 키</translation>
        </message>
        <message>
            <source>The other one begins a new line.</source>
            <translation>다른 하나는 줄을 바꿉니다.</translation>
        </message>
        <message>
            <source>The target's weights take no more RAM; the rest is streamed from the disk.</source>
            <translation>타깃의 가중치는 RAM을 이만큼만 쓰고, 나머지는 디스크에서 스트리밍합니다.</translation>
        </message>
        <message>
            <source>The target's weights take no more of it; the rest is streamed from RAM.</source>
            <translation>타깃의 가중치는 VRAM을 이만큼만 쓰고, 나머지는 RAM에서 스트리밍합니다.</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>테마</translation>
        </message>
        <message>
            <source>Unpacked weights are faster and take more memory.</source>
            <translation>풀어 놓은 가중치는 더 빠르지만 메모리를 더 씁니다.</translation>
        </message>
        <message>
            <source>VRAM for the target</source>
            <translation>타깃에 쓸 VRAM</translation>
        </message>
        <message>
            <source>Weights in memory</source>
            <translation>메모리의 가중치</translation>
        </message>
        <message>
            <source>Where matrix products run.</source>
            <translation>행렬 곱을 실행하는 곳.</translation>
        </message>
        <message>
            <source>as stored</source>
            <translation>저장된 그대로</translation>
        </message>
        <message>
            <source>as the desktop is</source>
            <translation>데스크톱을 따름</translation>
        </message>
        <message>
            <source>auto</source>
            <translation>자동</translation>
        </message>
        <message>
            <source>dark</source>
            <translation>어둡게</translation>
        </message>
        <message>
            <source>float32 is the most exact and the slowest.</source>
            <translation>float32가 가장 정확하고 가장 느립니다.</translation>
        </message>
        <message>
            <source>graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>light</source>
            <translation>밝게</translation>
        </message>
        <message>
            <source>no limit</source>
            <translation>한도 없음</translation>
        </message>
        <message>
            <source>processor</source>
            <translation>프로세서</translation>
        </message>
        <message>
            <source>unpacked</source>
            <translation>풀어 놓음</translation>
        </message>
    </context>
    <context>
        <name>run_words</name>
        <message>
            <source>Computing the target took the most time: this device is the limit.</source>
            <translation>타깃 계산에 가장 오래 걸렸습니다. 이 장치가 한계입니다.</translation>
        </message>
        <message>
            <source>Drafting took the most time: a smaller budget or a smaller draft may be faster.</source>
            <translation>초안 작성에 가장 오래 걸렸습니다. 예산을 줄이거나 더 작은 드래프트를 쓰면 빨라질 수 있습니다.</translation>
        </message>
        <message>
            <source>How much faster than plain decoding is not said before that was measured here.</source>
            <translation>일반 디코딩보다 얼마나 빠른지는 여기서 측정한 뒤에 말할 수 있습니다.</translation>
        </message>
        <message>
            <source>One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting, {} s for the rest.</source>
            <translation>반복 하나에 {}초: 초안 작성 {}초, 타깃 계산 {}초, 대기 {}초, 나머지 {}초.</translation>
        </message>
        <message>
            <source>One pass of the target gave {} tokens on average, because it checks a whole tree of guesses at once; plain decoding gets 1 from each.</source>
            <translation>추측의 트리 전체를 한꺼번에 검사하므로 타깃의 패스 하나가 평균 {}토큰을 냈습니다. 일반 디코딩은 패스마다 1토큰을 얻습니다.</translation>
        </message>
        <message>
            <source>PCIe</source>
            <translation>PCIe</translation>
        </message>
        <message>
            <source>Plain decoding was measured here with this model: {} tokens/s. This answer was {} times as fast.</source>
            <translation>이 모델의 일반 디코딩을 여기서 측정했습니다: {} 토큰/초. 이 답변은 그 {}배로 빨랐습니다.</translation>
        </message>
        <message>
            <source>The answer was too short to say how fast it was.</source>
            <translation>답변이 너무 짧아 속도를 말할 수 없습니다.</translation>
        </message>
        <message>
            <source>Waiting for weights from the disk took the most time: more memory would help most.</source>
            <translation>디스크에서 오는 가중치를 기다리는 데 가장 오래 걸렸습니다. 메모리를 늘리는 것이 가장 도움이 됩니다.</translation>
        </message>
        <message>
            <source>Waiting for weights over PCIe took the most time: more VRAM would help most.</source>
            <translation>PCIe로 오는 가중치를 기다리는 데 가장 오래 걸렸습니다. VRAM을 늘리는 것이 가장 도움이 됩니다.</translation>
        </message>
        <message>
            <source>disk</source>
            <translation>디스크</translation>
        </message>
        <message>
            <source>iteration {}: {} of {} accepted</source>
            <translation>반복 {0}: {2}개 중 {1}개 채택</translation>
        </message>
        <message>
            <source>waited {} s for PCIe</source>
            <translation>PCIe를 {}초 기다림</translation>
        </message>
        <message>
            <source>waited {} s for the disk</source>
            <translation>디스크를 {}초 기다림</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{}초</translation>
        </message>
        <message>
            <source>{} tokens per pass ÷ {} s = {} tokens/s.</source>
            <translation>패스당 {}토큰 ÷ {}초 = {} 토큰/초.</translation>
        </message>
        <message>
            <source>{}: {} GB/s (its limit was not measured: run specexec doctor)</source>
            <translation>{}: {} GB/s (한계는 측정되지 않음: specexec doctor를 실행하세요)</translation>
        </message>
        <message>
            <source>{}: {} of {} GB/s</source>
            <translation>{}: {} / {} GB/s</translation>
        </message>
    </context>
    <context>
        <name>shortcuts</name>
        <message>
            <source>Answer the last question anew</source>
            <translation>마지막 질문에 다시 답변</translation>
        </message>
        <message>
            <source>Begin a new chat</source>
            <translation>새 대화 시작</translation>
        </message>
        <message>
            <source>Begin a new line</source>
            <translation>줄바꿈</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation>마지막 답변 복사</translation>
        </message>
        <message>
            <source>Delete the chat or the folder</source>
            <translation>대화나 폴더 삭제</translation>
        </message>
        <message>
            <source>Duplicate the chat</source>
            <translation>대화 복제</translation>
        </message>
        <message>
            <source>Edit the last question</source>
            <translation>마지막 질문 편집</translation>
        </message>
        <message>
            <source>Export the chat or the folder</source>
            <translation>대화나 폴더 내보내기</translation>
        </message>
        <message>
            <source>Go to the list of chats</source>
            <translation>대화 목록으로 가기</translation>
        </message>
        <message>
            <source>Go to where the question is written</source>
            <translation>질문 입력란으로 이동</translation>
        </message>
        <message>
            <source>Pin the chat, or unpin it</source>
            <translation>대화를 고정하거나 고정 해제</translation>
        </message>
        <message>
            <source>Print the chat</source>
            <translation>대화 인쇄</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>끝내기</translation>
        </message>
        <message>
            <source>Rename the chat or the folder</source>
            <translation>대화나 폴더의 이름 바꾸기</translation>
        </message>
        <message>
            <source>Search all chats</source>
            <translation>모든 대화 검색</translation>
        </message>
        <message>
            <source>Send the question</source>
            <translation>질문 전송</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>설정</translation>
        </message>
        <message>
            <source>Show or hide the list of chats</source>
            <translation>대화 목록 표시/숨기기</translation>
        </message>
        <message>
            <source>Show or hide the token tree</source>
            <translation>토큰 트리 표시/숨기기</translation>
        </message>
        <message>
            <source>Stop the answer; what was written stays</source>
            <translation>답변 중지, 쓴 내용은 남음</translation>
        </message>
        <message>
            <source>The chat</source>
            <translation>대화</translation>
        </message>
        <message>
            <source>The chat above in the list</source>
            <translation>목록에서 위 대화</translation>
        </message>
        <message>
            <source>The chat below in the list</source>
            <translation>목록에서 아래 대화</translation>
        </message>
        <message>
            <source>The list of chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>The question</source>
            <translation>질문</translation>
        </message>
        <message>
            <source>The version after</source>
            <translation>다음 버전</translation>
        </message>
        <message>
            <source>The version before</source>
            <translation>이전 버전</translation>
        </message>
        <message>
            <source>The window</source>
            <translation>창</translation>
        </message>
        <message>
            <source>This list of keys</source>
            <translation>이 단축키 목록</translation>
        </message>
        <message>
            <source>Undo what was done last</source>
            <translation>마지막 작업 되돌리기</translation>
        </message>
    </context>
    <context>
        <name>sources</name>
        <message>
            <source>draft model</source>
            <translation>드래프트 모델</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>lookahead</source>
            <translation>룩어헤드</translation>
        </message>
        <message>
            <source>n-gram</source>
            <translation>n-그램</translation>
        </message>
        <message>
            <source>recycling</source>
            <translation>재활용</translation>
        </message>
    </context>
    <context>
        <name>startup</name>
        <message>
            <source>Something went wrong in the window.</source>
            <translation>창에서 문제가 생겼습니다.</translation>
        </message>
        <message>
            <source>You can go on. If it happens again, its log helps: {}</source>
            <translation>계속 사용할 수 있습니다. 다시 생기면 로그가 도움이 됩니다: {}</translation>
        </message>
    </context>
    <context>
        <name>tint</name>
        <message>
            <source>iteration {}</source>
            <translation>반복 {}</translation>
        </message>
        <message>
            <source>the target's own token</source>
            <translation>타깃이 직접 고른 토큰</translation>
        </message>
    </context>
    <context>
        <name>wizard</name>
        <message>
            <source>About {} tokens/s, estimated</source>
            <translation>약 {} 토큰/초, 추정</translation>
        </message>
        <message>
            <source>Card and memory</source>
            <translation>카드와 메모리</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>It fits into memory.</source>
            <translation>메모리에 들어갑니다.</translation>
        </message>
        <message>
            <source>It fits on the graphics card.</source>
            <translation>그래픽 카드에 들어갑니다.</translation>
        </message>
        <message>
            <source>It is larger than memory: a part of it is read from the disk again and again.</source>
            <translation>메모리보다 큽니다. 일부를 디스크에서 거듭 읽습니다.</translation>
        </message>
        <message>
            <source>It is shared between graphics card and memory.</source>
            <translation>그래픽 카드와 메모리에 나누어 둡니다.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>Streams from disk</source>
            <translation>디스크에서 스트리밍</translation>
        </message>
        <message>
            <source>The first word comes after about {} of reading a long question.</source>
            <translation>긴 질문을 약 {} 읽은 뒤 첫 단어가 나옵니다.</translation>
        </message>
        <message>
            <source>Will not run</source>
            <translation>실행되지 않음</translation>
        </message>
        <message>
            <source>Will not run: {} is needed.</source>
            <translation>실행되지 않음: {} 필요.</translation>
        </message>
        <message>
            <source>as fast as you read</source>
            <translation>읽는 속도만큼 빠름</translation>
        </message>
        <message>
            <source>more memory</source>
            <translation>더 많은 메모리</translation>
        </message>
        <message>
            <source>much faster than you read</source>
            <translation>읽는 속도보다 훨씬 빠름</translation>
        </message>
        <message>
            <source>see its page</source>
            <translation>모델 페이지 참조</translation>
        </message>
        <message>
            <source>slow: about {} for a short answer</source>
            <translation>느림: 짧은 답변에 약 {}</translation>
        </message>
        <message>
            <source>slower than you read, but fit for a conversation</source>
            <translation>읽는 속도보다 느리지만 대화할 만함</translation>
        </message>
        <message>
            <source>{} + draft {}</source>
            <translation>{} + 드래프트 {}</translation>
        </message>
        <message>
            <source>{} days</source>
            <translation>{}일</translation>
        </message>
        <message>
            <source>{} h</source>
            <translation>{}시간</translation>
        </message>
        <message>
            <source>{} min</source>
            <translation>{}분</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{}초</translation>
        </message>
        <message>
            <source>{} · account needed</source>
            <translation>{} · 계정 필요</translation>
        </message>
    </context>
    <context>
        <name>words</name>
        <message>
            <source>1 token</source>
            <translation>1토큰</translation>
        </message>
        <message>
            <source>Loading the draft</source>
            <translation>드래프트 불러오는 중</translation>
        </message>
        <message>
            <source>Loading the target</source>
            <translation>타깃 불러오는 중</translation>
        </message>
        <message>
            <source>Preparing the weight formats</source>
            <translation>가중치 형식 준비 중</translation>
        </message>
        <message>
            <source>Reading the model's files</source>
            <translation>모델 파일 읽는 중</translation>
        </message>
        <message>
            <source>Reading the tokenizer</source>
            <translation>토크나이저 읽는 중</translation>
        </message>
        <message>
            <source>Starting the libraries</source>
            <translation>라이브러리 시작 중</translation>
        </message>
        <message>
            <source>complete</source>
            <translation>완료</translation>
        </message>
        <message>
            <source>context {} tokens</source>
            <translation>컨텍스트 {} 토큰</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>드래프트 {}</translation>
        </message>
        <message>
            <source>ended at a stop string</source>
            <translation>중지 문자열에서 끝남</translation>
        </message>
        <message>
            <source>ended at the token limit</source>
            <translation>토큰 한도에서 끝남</translation>
        </message>
        <message>
            <source>first token after {} s</source>
            <translation>첫 토큰까지 {}초</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>드래프트 모델 없음</translation>
        </message>
        <message>
            <source>not completed</source>
            <translation>완료되지 않음</translation>
        </message>
        <message>
            <source>seed {}</source>
            <translation>시드 {}</translation>
        </message>
        <message>
            <source>stopped by you</source>
            <translation>사용자가 중지함</translation>
        </message>
        <message>
            <source>the context is full: start a new chat (Ctrl+N) to go on</source>
            <translation>컨텍스트가 가득 참: 계속하려면 새 대화를 시작하세요 (Ctrl+N)</translation>
        </message>
        <message>
            <source>{} tokens</source>
            <translation>{} 토큰</translation>
        </message>
        <message>
            <source>{} tokens per pass</source>
            <translation>패스당 {}토큰</translation>
        </message>
        <message>
            <source>{} tokens/s</source>
            <translation>{} 토큰/초</translation>
        </message>
        <message>
            <source>{} with {}</source>
            <translation>{} + {}</translation>
        </message>
        <message>
            <source>{}: layer {} of {}, {} of {}</source>
            <translation>{}: 레이어 {} / {}, {} / {}</translation>
        </message>
        <message>
            <source>{}: {} of {}</source>
            <translation>{}: {} / {}</translation>
        </message>
    </context>
</TS>

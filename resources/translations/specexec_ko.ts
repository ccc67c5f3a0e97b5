<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko" sourcelanguage="en">
    <context>
        <name>AboutPage</name>
        <message>
            <source>Chat with a model larger than your graphics card. Free software under the Apache License 2.0. Everything runs on this machine: nothing you write in a chat leaves it, unless you add an engine elsewhere and choose one of its models; the header then says where it goes. No usage data is collected. The program connects to the Internet only for searches and downloads you start, for engines you add and, if you turn it on, to check for new versions.</source>
            <translation>그래픽 카드보다 큰 모델과 대화하세요. Apache License 2.0을 따르는 자유 소프트웨어입니다. 모든 것이 이 컴퓨터에서 실행되며, 외부 엔진을 추가해 그 모델을 선택하지 않는 한 대화에 쓴 내용은 이 컴퓨터를 떠나지 않습니다. 선택하면 어디로 전송되는지 상단에 표시됩니다. 사용 데이터는 수집하지 않습니다. 프로그램은 직접 시작한 검색과 다운로드, 추가한 엔진, 그리고 켜 둔 경우 새 버전 확인을 위해서만 인터넷에 연결합니다.</translation>
        </message>
        <message>
            <source>Libraries</source>
            <translation>라이브러리</translation>
        </message>
        <message>
            <source>Logs</source>
            <translation>로그</translation>
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
            <source>Check and continue</source>
            <translation>확인하고 계속</translation>
        </message>
        <message>
            <source>Checking…</source>
            <translation>확인하는 중…</translation>
        </message>
        <message>
            <source>Create an access token</source>
            <translation>액세스 토큰 만들기</translation>
        </message>
        <message>
            <source>Open the model's page</source>
            <translation>모델 페이지 열기</translation>
        </message>
        <message>
            <source>Open the model's page, log in or create a free account, and accept the licence there.</source>
            <translation>모델 페이지를 열어 로그인하거나 무료 계정을 만들고, 그곳에서 라이선스에 동의하세요.</translation>
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
            <source>The token identifies you to Hugging Face. A token of type “Read” is enough. It is stored in this system's keyring and sent only to Hugging Face.</source>
            <translation>Hugging Face는 이 토큰으로 사용자를 확인합니다. “Read” 유형의 토큰이면 충분합니다. 이 시스템의 키링에 저장되고 Hugging Face에만 전송됩니다.</translation>
        </message>
        <message>
            <source>This model requires your consent</source>
            <translation>이 모델은 동의가 필요합니다</translation>
        </message>
    </context>
    <context>
        <name>AlternativeRow</name>
        <message>
            <source>Choose</source>
            <translation>선택</translation>
        </message>
        <message>
            <source>Choose {}</source>
            <translation>{} 선택</translation>
        </message>
        <message>
            <source>{}: {}</source>
            <translation>{}: {}</translation>
        </message>
    </context>
    <context>
        <name>AnswerView</name>
        <message>
            <source>Answer</source>
            <translation>답변</translation>
        </message>
        <message>
            <source>Edit this answer</source>
            <translation>이 답변 편집</translation>
        </message>
        <message>
            <source>Waiting for the model…</source>
            <translation>모델을 기다리는 중…</translation>
        </message>
    </context>
    <context>
        <name>Appearance</name>
        <message>
            <source>Text size: {}%</source>
            <translation>글자 크기: {}%</translation>
        </message>
    </context>
    <context>
        <name>Attachments</name>
        <message>
            <source>Pasted picture</source>
            <translation>붙여넣은 그림</translation>
        </message>
        <message>
            <source>The model does not see pictures. It reads the text that Tesseract found in this one.</source>
            <translation>모델은 그림을 보지 못합니다. Tesseract가 이 그림에서 찾은 텍스트를 읽습니다.</translation>
        </message>
        <message>
            <source>The model does not see pictures. This one is kept in the chat.</source>
            <translation>모델은 그림을 보지 못합니다. 이 그림은 대화에 보관됩니다.</translation>
        </message>
    </context>
    <context>
        <name>BackendsView</name>
        <message>
            <source>Compute device</source>
            <translation>연산 장치</translation>
        </message>
    </context>
    <context>
        <name>BetterModel</name>
        <message>
            <source>Get a better one: {}, {}</source>
            <translation>더 나은 모델 받기: {}, {}</translation>
        </message>
        <message>
            <source>Load a better one: {}</source>
            <translation>더 나은 모델 불러오기: {}</translation>
        </message>
    </context>
    <context>
        <name>CallCard</name>
        <message>
            <source>Allow once</source>
            <translation>한 번 허용</translation>
        </message>
        <message>
            <source>Always allow</source>
            <translation>항상 허용</translation>
        </message>
        <message>
            <source>Answer of the tool</source>
            <translation>도구의 대답</translation>
        </message>
        <message>
            <source>Arguments</source>
            <translation>인수</translation>
        </message>
        <message>
            <source>Called. The answer is not checked: it may be wrong or try to mislead.</source>
            <translation>호출했습니다. 대답은 검증되지 않으므로 틀리거나 속이려 할 수 있습니다.</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>실패함</translation>
        </message>
        <message>
            <source>Not called</source>
            <translation>호출하지 않음</translation>
        </message>
        <message>
            <source>Refuse</source>
            <translation>거부</translation>
        </message>
        <message>
            <source>Running…</source>
            <translation>실행 중…</translation>
        </message>
        <message>
            <source>Show or hide what the tool answered</source>
            <translation>도구의 대답 보이기 또는 숨기기</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>중지</translation>
        </message>
        <message>
            <source>The model wants to call this tool with these arguments. Allow it?</source>
            <translation>모델이 이 인수로 이 도구를 호출하려고 합니다. 허용할까요?</translation>
        </message>
        <message>
            <source>What the tool answered</source>
            <translation>도구가 대답한 내용</translation>
        </message>
        <message>
            <source>{} of the tool server {}</source>
            <translation>{} — 도구 서버 {}</translation>
        </message>
    </context>
    <context>
        <name>CardNotice</name>
        <message>
            <source>Use the graphics card</source>
            <translation>그래픽 카드 사용</translation>
        </message>
        <message>
            <source>{} Its packages are downloaded once ({}), while you chat.</source>
            <translation>{} 필요한 패키지는 대화하는 동안 한 번만 다운로드합니다({}).</translation>
        </message>
    </context>
    <context>
        <name>Catalogue</name>
        <message>
            <source>All models</source>
            <translation>모든 모델</translation>
        </message>
        <message>
            <source>All variants</source>
            <translation>모든 변형</translation>
        </message>
        <message>
            <source>Also show other formats and drafts of each model, which run slower</source>
            <translation>각 모델의 더 느린 다른 형식과 드래프트도 표시</translation>
        </message>
        <message>
            <source>By name</source>
            <translation>이름순</translation>
        </message>
        <message>
            <source>Fastest first</source>
            <translation>빠른 순</translation>
        </message>
        <message>
            <source>Largest download first</source>
            <translation>다운로드 큰 순</translation>
        </message>
        <message>
            <source>No model matches these filters.</source>
            <translation>이 조건에 맞는 모델이 없습니다.</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>이 컴퓨터의 모델</translation>
        </message>
        <message>
            <source>Recommended first</source>
            <translation>추천 순</translation>
        </message>
        <message>
            <source>Runs in</source>
            <translation>실행 위치</translation>
        </message>
        <message>
            <source>Search models</source>
            <translation>모델 검색</translation>
        </message>
        <message>
            <source>Smallest download first</source>
            <translation>다운로드 작은 순</translation>
        </message>
        <message>
            <source>Sort by</source>
            <translation>정렬 기준</translation>
        </message>
    </context>
    <context>
        <name>Changes</name>
        <message>
            <source>Deleted the folder “{}”; its chats are kept</source>
            <translation>폴더 “{}” 삭제됨, 대화는 유지됨</translation>
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
        <name>ChatInstructions</name>
        <message>
            <source>Removed the preset {}</source>
            <translation>프리셋 {}을(를) 제거했습니다</translation>
        </message>
        <message>
            <source>Removed the system prompt</source>
            <translation>시스템 프롬프트를 제거했습니다</translation>
        </message>
        <message>
            <source>{} replaces the system prompt</source>
            <translation>시스템 프롬프트 대신 {} 프리셋을 사용합니다</translation>
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
            <source>Chat actions</source>
            <translation>대화 작업</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Delete folder, keep chats</source>
            <translation>폴더를 삭제하고 대화는 유지</translation>
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
            <source>Open in a new window</source>
            <translation>새 창에서 열기</translation>
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
    </context>
    <context>
        <name>ChatRow</name>
        <message>
            <source>Automatic title</source>
            <translation>자동 제목</translation>
        </message>
        <message>
            <source>Chat title</source>
            <translation>대화 제목</translation>
        </message>
        <message>
            <source>Folder name</source>
            <translation>폴더 이름</translation>
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
            <source>{} (not available)</source>
            <translation>{} (사용할 수 없음)</translation>
        </message>
    </context>
    <context>
        <name>ChoosePage</name>
        <message>
            <source>Any model from Hugging Face</source>
            <translation>Hugging Face의 아무 모델</translation>
        </message>
        <message>
            <source>Catalogue</source>
            <translation>카탈로그</translation>
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
            <source>Estimating which models run here</source>
            <translation>여기서 실행되는 모델을 추정하는 중</translation>
        </message>
        <message>
            <source>Estimating which models run on this machine, and how fast…</source>
            <translation>이 컴퓨터에서 어떤 모델이 얼마나 빠르게 실행되는지 추정하는 중…</translation>
        </message>
        <message>
            <source>Larger models know more and answer more slowly. If you are not sure, take the recommended one. You can get others at any time.</source>
            <translation>큰 모델은 더 많이 알지만 더 느리게 답합니다. 잘 모르겠으면 추천 모델을 고르세요. 다른 모델은 언제든 받을 수 있습니다.</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>지금 불러오기</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>다음</translation>
        </message>
        <message>
            <source>Next ({} to download)</source>
            <translation>다음 (다운로드 {})</translation>
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message>
            <source>Attach files</source>
            <translation>파일 첨부</translation>
        </message>
        <message>
            <source>Cancel loading</source>
            <translation>불러오기 취소</translation>
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
            <source>Esc</source>
            <translation>Esc</translation>
        </message>
        <message>
            <source>Message</source>
            <translation>메시지</translation>
        </message>
        <message>
            <source>Message — Ctrl+Enter to send, Enter for a new line</source>
            <translation>메시지 — Ctrl+Enter로 전송, Enter로 줄바꿈</translation>
        </message>
        <message>
            <source>Message — Enter to send, Shift+Enter for a new line</source>
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
        <name>ContextBar</name>
        <message>
            <source>Larger context: {} tokens</source>
            <translation>더 큰 컨텍스트: {}토큰</translation>
        </message>
        <message>
            <source>Larger context: {} tokens, {} more memory</source>
            <translation>더 큰 컨텍스트: {}토큰, 메모리 {} 추가</translation>
        </message>
        <message>
            <source>Leave out the oldest turns</source>
            <translation>가장 오래된 문답 빼기</translation>
        </message>
        <message>
            <source>New chat with this</source>
            <translation>이 메시지로 새 대화</translation>
        </message>
        <message>
            <source>That is more than fits.</source>
            <translation>들어갈 수 있는 양을 넘습니다.</translation>
        </message>
        <message>
            <source>The model then reads the newest questions and answers only. The chat keeps all of them.</source>
            <translation>이후 모델은 가장 최근의 질문과 답변만 읽습니다. 대화에는 모두 그대로 남습니다.</translation>
        </message>
        <message>
            <source>This message adds about {}.</source>
            <translation>이 메시지는 약 {}토큰을 더합니다.</translation>
        </message>
        <message>
            <source>{} of {} tokens of the context are used.</source>
            <translation>컨텍스트 {1}토큰 중 {0}토큰을 사용했습니다.</translation>
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
        <name>CopyRow</name>
        <message>
            <source>Copy</source>
            <translation>복사</translation>
        </message>
        <message>
            <source>Copy: {}</source>
            <translation>복사: {}</translation>
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
            <source>Choose and download a model that answers better than the included one</source>
            <translation>포함된 모델보다 더 잘 답하는 모델을 골라 다운로드합니다</translation>
        </message>
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
            <source>Get a model</source>
            <translation>모델 받기</translation>
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
            <source>You can close this window and chat while downloads continue; the button at the top of the chat brings you back. If you quit the program, you can resume them when it starts again.</source>
            <translation>이 창을 닫고 대화해도 다운로드는 계속되고, 대화 위쪽의 버튼으로 여기에 돌아올 수 있습니다. 프로그램을 끝내면 다음에 시작할 때 다운로드를 재개할 수 있습니다.</translation>
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>A tiny demo model answers for now. It understands English only, knows simple facts, and is often wrong.</source>
            <translation>지금은 아주 작은 데모 모델이 답변합니다. 영어만 이해하고, 간단한 사실만 알며, 자주 틀립니다.</translation>
        </message>
        <message>
            <source>Ask the model something</source>
            <translation>모델에게 무엇이든 물어보세요</translation>
        </message>
        <message>
            <source>Everything runs on this computer, and nothing you write leaves it.</source>
            <translation>모든 것이 이 컴퓨터에서 실행되며, 작성한 내용은 밖으로 나가지 않습니다.</translation>
        </message>
        <message>
            <source>Explain in three sentences how a refrigerator works</source>
            <translation>냉장고가 어떻게 작동하는지 세 문장으로 설명해 줘</translation>
        </message>
        <message>
            <source>Get a better model</source>
            <translation>더 나은 모델 받기</translation>
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
            <source>The model runs at {}, and what you write here is sent there.</source>
            <translation>모델은 {}에서 실행되며, 여기에 쓴 내용은 그곳으로 전송됩니다.</translation>
        </message>
        <message>
            <source>Write a Python function that finds the longest common prefix of a list of strings</source>
            <translation>문자열 목록에서 가장 긴 공통 접두사를 찾는 Python 함수를 작성해 줘</translation>
        </message>
    </context>
    <context>
        <name>EngineEditor</name>
        <message>
            <source>A file with the certificate that signs the server's own, in PEM, if the system has it not</source>
            <translation>서버 인증서에 서명한 인증서가 시스템에 없을 때 사용할 PEM 파일</translation>
        </message>
        <message>
            <source>Add</source>
            <translation>추가</translation>
        </message>
        <message>
            <source>Add an engine</source>
            <translation>엔진 추가</translation>
        </message>
        <message>
            <source>Address</source>
            <translation>주소</translation>
        </message>
        <message>
            <source>Asking for its models…</source>
            <translation>모델 목록을 요청하는 중…</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>취소</translation>
        </message>
        <message>
            <source>Certificate</source>
            <translation>인증서</translation>
        </message>
        <message>
            <source>Chats with a model of this engine are sent to it. The key is stored in this system's keyring, and is sent only there.</source>
            <translation>이 엔진의 모델과 나눈 대화는 이 엔진으로 전송됩니다. 키는 시스템 키링에 저장되며 그곳으로만 전송됩니다.</translation>
        </message>
        <message>
            <source>Choose the certificate</source>
            <translation>인증서 선택</translation>
        </message>
        <message>
            <source>Choose…</source>
            <translation>선택…</translation>
        </message>
        <message>
            <source>How you want to call it</source>
            <translation>원하는 이름</translation>
        </message>
        <message>
            <source>It answers. Models: {}</source>
            <translation>응답합니다. 모델: {}</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>키</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>이름</translation>
        </message>
        <message>
            <source>New engine</source>
            <translation>새 엔진</translation>
        </message>
        <message>
            <source>None, if it asks for none</source>
            <translation>요구하지 않으면 비워 두세요</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>저장</translation>
        </message>
        <message>
            <source>Send the key unencrypted</source>
            <translation>키를 암호화하지 않고 전송</translation>
        </message>
        <message>
            <source>Test</source>
            <translation>테스트</translation>
        </message>
        <message>
            <source>Test: list the models of this engine</source>
            <translation>테스트: 이 엔진의 모델 나열</translation>
        </message>
        <message>
            <source>The system's</source>
            <translation>시스템 인증서</translation>
        </message>
        <message>
            <source>Unchanged</source>
            <translation>변경 없음</translation>
        </message>
        <message>
            <source>and {} more</source>
            <translation>외 {}개</translation>
        </message>
    </context>
    <context>
        <name>EnginePage</name>
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
            <source>Switch to this engine</source>
            <translation>이 엔진으로 전환</translation>
        </message>
        <message>
            <source>The current engine stays in use until the new one has passed its test. The model is unloaded during that test.</source>
            <translation>새 엔진이 시험을 통과할 때까지 지금의 엔진을 계속 사용합니다. 시험하는 동안 모델이 내려집니다.</translation>
        </message>
        <message>
            <source>built in</source>
            <translation>기본 포함</translation>
        </message>
        <message>
            <source>from an earlier version; repair it</source>
            <translation>이전 버전의 것입니다. 복구하세요</translation>
        </message>
        <message>
            <source>missing; repair it</source>
            <translation>없습니다. 복구하세요</translation>
        </message>
    </context>
    <context>
        <name>EngineRows</name>
        <message>
            <source>Asking for its models…</source>
            <translation>모델 목록을 요청하는 중…</translation>
        </message>
        <message>
            <source>context {} tokens</source>
            <translation>컨텍스트 {} 토큰</translation>
        </message>
        <message>
            <source>goes to {}</source>
            <translation>{}(으)로 전송</translation>
        </message>
        <message>
            <source>loaded now</source>
            <translation>지금 불러와져 있음</translation>
        </message>
        <message>
            <source>{} · elsewhere, at {}</source>
            <translation>{} · 외부, {}</translation>
        </message>
    </context>
    <context>
        <name>EnginesPage</name>
        <message>
            <source>Add an engine…</source>
            <translation>엔진 추가…</translation>
        </message>
        <message>
            <source>Change the engine</source>
            <translation>엔진 변경</translation>
        </message>
        <message>
            <source>Change…</source>
            <translation>변경…</translation>
        </message>
        <message>
            <source>Engines elsewhere</source>
            <translation>외부 엔진</translation>
        </message>
        <message>
            <source>Its key is deleted, too. Chats stay; nothing changes at {}.</source>
            <translation>키도 함께 삭제됩니다. 대화는 남으며, {}에는 변화가 없습니다.</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>Models of another machine or service can answer here, too: a server that speaks OpenAI's interface, such as vLLM, SGLang, llama.cpp or another SpecExec. What you write in chats with them is sent there; the header says so.</source>
            <translation>다른 컴퓨터나 서비스의 모델도 여기서 답변할 수 있습니다. vLLM, SGLang, llama.cpp 또는 다른 SpecExec처럼 OpenAI 인터페이스를 지원하는 서버면 됩니다. 그런 모델과의 대화에 쓴 내용은 그곳으로 전송되며, 상단에 표시됩니다.</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>제거</translation>
        </message>
        <message>
            <source>Remove the engine</source>
            <translation>엔진 제거</translation>
        </message>
        <message>
            <source>Remove {}?</source>
            <translation>{}을(를) 제거할까요?</translation>
        </message>
        <message>
            <source>Remove…</source>
            <translation>제거…</translation>
        </message>
        <message>
            <source>{} was saved. Choose its models in the header.</source>
            <translation>{}을(를) 저장했습니다. 상단에서 모델을 선택하세요.</translation>
        </message>
    </context>
    <context>
        <name>FiguresButton</name>
        <message>
            <source>Figures of this answer</source>
            <translation>이 답변의 수치</translation>
        </message>
    </context>
    <context>
        <name>FileChips</name>
        <message>
            <source>Files</source>
            <translation>파일</translation>
        </message>
        <message>
            <source>Remove {}</source>
            <translation>{} 제거</translation>
        </message>
        <message>
            <source>Show {}</source>
            <translation>{} 보기</translation>
        </message>
        <message>
            <source>reading…</source>
            <translation>읽는 중…</translation>
        </message>
    </context>
    <context>
        <name>FilePreview</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>The first {} of {} characters are shown.</source>
            <translation>{1}자 중 처음 {0}자만 표시됩니다.</translation>
        </message>
    </context>
    <context>
        <name>FindBar</name>
        <message>
            <source>Aa</source>
            <translation>Aa</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>이 대화에서 찾기</translation>
        </message>
        <message>
            <source>Match case</source>
            <translation>대소문자 구분</translation>
        </message>
        <message>
            <source>Next match</source>
            <translation>다음 일치 항목</translation>
        </message>
        <message>
            <source>No matches</source>
            <translation>일치하는 항목 없음</translation>
        </message>
        <message>
            <source>Previous match</source>
            <translation>이전 일치 항목</translation>
        </message>
        <message>
            <source>{} of {}</source>
            <translation>{} / {}</translation>
        </message>
    </context>
    <context>
        <name>Foot</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Let another machine or service answer; nothing is downloaded</source>
            <translation>다른 컴퓨터나 서비스가 답변하게 합니다. 다운로드는 없습니다</translation>
        </message>
        <message>
            <source>Use an engine elsewhere…</source>
            <translation>외부 엔진 사용…</translation>
        </message>
    </context>
    <context>
        <name>Form</name>
        <message>
            <source>No setting matches.</source>
            <translation>일치하는 설정이 없습니다.</translation>
        </message>
        <message>
            <source>Search settings</source>
            <translation>설정 검색</translation>
        </message>
    </context>
    <context>
        <name>Glossary</name>
        <message>
            <source>A method that proposes how the text might go on: a small model (the draft), trained heads, or a search in the text so far.</source>
            <translation>글이 어떻게 이어질지 제안하는 방법입니다. 작은 모델(드래프트), 학습된 헤드, 또는 지금까지의 글에서 찾는 방법이 있습니다.</translation>
        </message>
        <message>
            <source>A proposed token that the target would have chosen itself. It stays in the answer.</source>
            <translation>타깃이 스스로도 골랐을 제안 토큰입니다. 답변에 남습니다.</translation>
        </message>
        <message>
            <source>A word or a part of a word. Models read and write token by token.</source>
            <translation>단어 또는 단어의 일부입니다. 모델은 토큰 단위로 읽고 씁니다.</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Formats that store weights in 4 or 8 bits, so that a model takes less memory.</source>
            <translation>가중치를 4비트나 8비트로 저장하는 형식입니다. 모델이 메모리를 덜 차지합니다.</translation>
        </message>
        <message>
            <source>How exactly the model calculates: with 32 or 16 bits for each number.</source>
            <translation>모델이 계산하는 정밀도입니다. 숫자마다 32비트 또는 16비트를 씁니다.</translation>
        </message>
        <message>
            <source>In some models each layer has many parts of which every token uses only a few: a mixture of experts. Those used most stay in memory, the others are read when needed.</source>
            <translation>일부 모델은 층마다 여러 부분이 있고 토큰마다 그중 몇 개만 사용합니다. 이를 전문가 혼합이라고 합니다. 가장 많이 쓰이는 것은 메모리에 남고, 나머지는 필요할 때 읽습니다.</translation>
        </message>
        <message>
            <source>KV cache</source>
            <translation>KV 캐시</translation>
        </message>
        <message>
            <source>One run through all of the target's weights. It takes nearly as long for one token as for many, which is why guessing ahead pays.</source>
            <translation>타깃의 모든 가중치를 한 번 거치는 계산입니다. 토큰이 하나든 여럿이든 시간이 거의 같으므로 미리 추측하는 것이 이득입니다.</translation>
        </message>
        <message>
            <source>One tree and the pass that verifies it.</source>
            <translation>트리 하나와 그 트리를 검증하는 패스입니다.</translation>
        </message>
        <message>
            <source>Q4_K, Q8_0, AWQ, GPTQ</source>
            <translation>Q4_K, Q8_0, AWQ, GPTQ</translation>
        </message>
        <message>
            <source>The model that answers. Every token of the answer is its choice.</source>
            <translation>답변하는 모델입니다. 답변의 모든 토큰은 이 모델이 고릅니다.</translation>
        </message>
        <message>
            <source>The numbers that a model consists of. Those that do not fit into memory are streamed: read from the disk, or sent to the graphics card, in every pass.</source>
            <translation>모델을 이루는 숫자입니다. 메모리에 다 들어가지 않는 가중치는 스트리밍됩니다. 즉 패스마다 디스크에서 읽거나 그래픽 카드로 보냅니다.</translation>
        </message>
        <message>
            <source>The proposals of one iteration. Each node is a token; each path from the root is a way to go on. The budget is the largest number of nodes.</source>
            <translation>한 반복에서 나온 제안입니다. 노드는 토큰이고, 뿌리에서 시작하는 경로는 이어 갈 수 있는 한 갈래입니다. 예산은 노드의 최대 개수입니다.</translation>
        </message>
        <message>
            <source>The token that the target adds after the last accepted one, in the same pass.</source>
            <translation>같은 패스에서 타깃이 마지막 채택 토큰 뒤에 더하는 토큰입니다.</translation>
        </message>
        <message>
            <source>What a model remembers of the text so far. It grows with the context: the number of tokens that fit into question and answer together.</source>
            <translation>모델이 지금까지의 글에서 기억하는 내용입니다. 질문과 답변을 합쳐 들어갈 수 있는 토큰 수인 컨텍스트에 따라 커집니다.</translation>
        </message>
        <message>
            <source>What the words mean</source>
            <translation>용어 설명</translation>
        </message>
        <message>
            <source>Writing without guesses: each pass of the target adds one token.</source>
            <translation>추측 없이 쓰는 방식입니다. 타깃의 패스마다 토큰이 하나씩 늘어납니다.</translation>
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
            <source>drafter</source>
            <translation>드래프터</translation>
        </message>
        <message>
            <source>experts</source>
            <translation>전문가</translation>
        </message>
        <message>
            <source>float32, bfloat16, float16</source>
            <translation>float32, bfloat16, float16</translation>
        </message>
        <message>
            <source>iteration</source>
            <translation>반복</translation>
        </message>
        <message>
            <source>pass</source>
            <translation>패스</translation>
        </message>
        <message>
            <source>plain decoding</source>
            <translation>일반 디코딩</translation>
        </message>
        <message>
            <source>target</source>
            <translation>타깃</translation>
        </message>
        <message>
            <source>token</source>
            <translation>토큰</translation>
        </message>
        <message>
            <source>token tree</source>
            <translation>토큰 트리</translation>
        </message>
        <message>
            <source>weights</source>
            <translation>가중치</translation>
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>A tiny demo model</source>
            <translation>아주 작은 데모 모델</translation>
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
            <source>How the answer was made</source>
            <translation>답변이 만들어진 과정</translation>
        </message>
        <message>
            <source>How the answer was made (Ctrl+T)</source>
            <translation>답변이 만들어진 과정 (Ctrl+T)</translation>
        </message>
        <message>
            <source>Model: {}</source>
            <translation>모델: {}</translation>
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
            <source>Settings</source>
            <translation>설정</translation>
        </message>
        <message>
            <source>Settings (Ctrl+,)</source>
            <translation>설정 (Ctrl+,)</translation>
        </message>
        <message>
            <source>{}: choose another model</source>
            <translation>{}: 다른 모델 선택</translation>
        </message>
    </context>
    <context>
        <name>Histogram</name>
        <message>
            <source>Accepted nodes per iteration</source>
            <translation>반복당 채택된 노드 수</translation>
        </message>
        <message>
            <source>{} accepted: {}×</source>
            <translation>{}개 채택: {}회</translation>
        </message>
    </context>
    <context>
        <name>HubSearch</name>
        <message>
            <source>Contacting Hugging Face</source>
            <translation>Hugging Face에 연결하는 중</translation>
        </message>
        <message>
            <source>Name or address of a model, or search words</source>
            <translation>모델의 이름이나 주소 또는 검색어</translation>
        </message>
        <message>
            <source>No models found. Check the spelling, or use fewer words.</source>
            <translation>모델을 찾지 못했습니다. 철자를 확인하거나 단어를 줄여 보세요.</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>검색</translation>
        </message>
        <message>
            <source>Search for a model on huggingface.co, or paste its name or address. You then choose one of its formats, and a draft that suits it is proposed.</source>
            <translation>huggingface.co의 모델을 검색하거나 이름 또는 주소를 붙여넣으세요. 그다음 모델의 형식을 고르면 알맞은 드래프트를 제안합니다.</translation>
        </message>
        <message>
            <source>Search results</source>
            <translation>검색 결과</translation>
        </message>
        <message>
            <source>Select a model and press Enter.</source>
            <translation>모델을 선택하고 Enter를 누르세요.</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
        <message>
            <source>account required</source>
            <translation>계정 필요</translation>
        </message>
        <message>
            <source>owner/name, an address on huggingface.co, or search words</source>
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
            <source>Import a smaller part of it.</source>
            <translation>파일의 일부만 가져오세요.</translation>
        </message>
        <message>
            <source>Reading {} ended unexpectedly.</source>
            <translation>{} 읽기가 예기치 않게 끝났습니다.</translation>
        </message>
        <message>
            <source>Reading {} takes too much memory or time.</source>
            <translation>{}을(를) 읽는 데 메모리나 시간이 너무 많이 듭니다.</translation>
        </message>
    </context>
    <context>
        <name>Instructions</name>
        <message>
            <source>Change the system prompt</source>
            <translation>시스템 프롬프트 변경</translation>
        </message>
        <message>
            <source>Preset {}: change</source>
            <translation>프리셋 {}: 변경</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>제거</translation>
        </message>
        <message>
            <source>System prompt or preset</source>
            <translation>시스템 프롬프트 또는 프리셋</translation>
        </message>
        <message>
            <source>System prompt: {}</source>
            <translation>시스템 프롬프트: {}</translation>
        </message>
    </context>
    <context>
        <name>InstructionsPopup</name>
        <message>
            <source>All settings…</source>
            <translation>모든 설정…</translation>
        </message>
        <message>
            <source>Done</source>
            <translation>완료</translation>
        </message>
        <message>
            <source>No presets yet. You can save one in the settings.</source>
            <translation>아직 프리셋이 없습니다. 설정에서 저장할 수 있습니다.</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>프리셋</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>시스템 프롬프트</translation>
        </message>
        <message>
            <source>System prompt and presets</source>
            <translation>시스템 프롬프트와 프리셋</translation>
        </message>
        <message>
            <source>What the model should know and how it should answer, in this chat</source>
            <translation>이 대화에서 모델이 알아야 할 것과 답변하는 방식</translation>
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
            <source>drafted during the pass</source>
            <translation>패스 동안 초안 작성</translation>
        </message>
        <message>
            <source>its share of the next tree</source>
            <translation>그중 다음 트리에 남은 몫</translation>
        </message>
        <message>
            <source>longest: {} s</source>
            <translation>최장 {}초</translation>
        </message>
        <message>
            <source>{} of {} nodes drafted during passes survived</source>
            <translation>패스 동안 초안으로 만든 노드 중 {}개(전체 {}개)가 살아남음</translation>
        </message>
    </context>
    <context>
        <name>KeptChats</name>
        <message>
            <source>Clear the chat cache</source>
            <translation>대화 캐시 비우기</translation>
        </message>
        <message>
            <source>Clearing… An answer in progress is finished first.</source>
            <translation>비우는 중… 진행 중인 답변을 먼저 끝냅니다.</translation>
        </message>
        <message>
            <source>Delete what is kept of chats; the chats stay</source>
            <translation>대화에 대해 보관된 계산 결과를 삭제합니다. 대화 자체는 남습니다</translation>
        </message>
        <message>
            <source>Freed {} of RAM and {} on the disk. The chats stay; they are read anew once.</source>
            <translation>RAM {}, 디스크 {}을(를) 비웠습니다. 대화는 그대로 있으며, 다음에 한 번 새로 읽습니다.</translation>
        </message>
    </context>
    <context>
        <name>KeyboardPage</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation>단축키</translation>
        </message>
    </context>
    <context>
        <name>LaneView</name>
        <message>
            <source>finished after {} s</source>
            <translation>{}초 만에 끝남</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>초</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>토큰</translation>
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
        <name>LayerStrip</name>
        <message>
            <source>Layers of the current pass</source>
            <translation>현재 패스의 레이어</translation>
        </message>
        <message>
            <source>layer {} of {}</source>
            <translation>레이어 {} / {}</translation>
        </message>
    </context>
    <context>
        <name>LeftBehind</name>
        <message>
            <source>Leave them there</source>
            <translation>그대로 두기</translation>
        </message>
        <message>
            <source>Models from an earlier version are in {}, a cache, which clean-up programs may empty. They are safer in {}.</source>
            <translation>이전 버전의 모델이 {}에 있습니다. 이곳은 캐시라서 정리 프로그램이 비울 수 있습니다. {}에 두는 것이 더 안전합니다.</translation>
        </message>
        <message>
            <source>Move models</source>
            <translation>모델 옮기기</translation>
        </message>
    </context>
    <context>
        <name>LocalServer</name>
        <message>
            <source>Another program uses port {} already.</source>
            <translation>다른 프로그램이 이미 포트 {}을(를) 사용하고 있습니다.</translation>
        </message>
        <message>
            <source>Choose another port below, then start the server again.</source>
            <translation>아래에서 다른 포트를 고른 뒤 서버를 다시 시작하세요.</translation>
        </message>
        <message>
            <source>Free some memory and try again.</source>
            <translation>메모리를 비우고 다시 시도하세요.</translation>
        </message>
        <message>
            <source>Start it again. If it happens again, read its log.</source>
            <translation>다시 시작하세요. 또 발생하면 로그를 확인하세요.</translation>
        </message>
        <message>
            <source>The local server cannot be started: {}</source>
            <translation>로컬 서버를 시작할 수 없습니다: {}</translation>
        </message>
        <message>
            <source>The local server ended unexpectedly.</source>
            <translation>로컬 서버가 예기치 않게 종료되었습니다.</translation>
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
            <source>Large models are spread over graphics card, memory and disk. The speed of an answer depends on how much of each this machine has, and on how fast its disk is.</source>
            <translation>큰 모델은 그래픽 카드, 메모리, 디스크에 나누어 둡니다. 답변의 속도는 이 컴퓨터에 각각이 얼마나 있는지와 디스크가 얼마나 빠른지에 달려 있습니다.</translation>
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
            <source>Measuring the speed of the disk. This takes a few seconds; you can continue meanwhile.</source>
            <translation>디스크 속도를 측정하는 중입니다. 몇 초 걸립니다. 그동안 계속해도 됩니다.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>None suitable</source>
            <translation>적합한 것 없음</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>프로세서</translation>
        </message>
        <message>
            <source>The processor does all the work, which is slower.</source>
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
            <source>reads {} GB/s, measured</source>
            <translation>{} GB/s로 읽음, 측정값</translation>
        </message>
        <message>
            <source>receives up to {} GB/s from memory</source>
            <translation>메모리에서 최대 {} GB/s로 받음</translation>
        </message>
        <message>
            <source>receives {} GB/s from memory, measured</source>
            <translation>메모리에서 {} GB/s로 받음, 측정값</translation>
        </message>
        <message>
            <source>speed not measured yet</source>
            <translation>속도는 아직 측정되지 않음</translation>
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
            <source>{} free now</source>
            <translation>지금 {} 남음</translation>
        </message>
        <message>
            <source>{} of graphics memory, {} free now</source>
            <translation>그래픽 메모리 {}, 지금 {} 남음</translation>
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
            <source>Peak RAM of the engine, program included: {}.</source>
            <translation>엔진의 최대 RAM 사용량(프로그램 포함): {}.</translation>
        </message>
        <message>
            <source>RAM</source>
            <translation>RAM</translation>
        </message>
        <message>
            <source>SSD</source>
            <translation>SSD</translation>
        </message>
        <message>
            <source>SSD, read in every pass</source>
            <translation>SSD, 패스마다 읽음</translation>
        </message>
        <message>
            <source>VRAM</source>
            <translation>VRAM</translation>
        </message>
        <message>
            <source>all experts, read when needed</source>
            <translation>모든 전문가 (필요할 때 읽음)</translation>
        </message>
        <message>
            <source>draft KV cache</source>
            <translation>드래프트 KV 캐시</translation>
        </message>
        <message>
            <source>draft weights</source>
            <translation>드래프트 가중치</translation>
        </message>
        <message>
            <source>experts in memory</source>
            <translation>메모리에 있는 전문가</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>other chats</source>
            <translation>다른 대화</translation>
        </message>
        <message>
            <source>slots for streamed layers</source>
            <translation>스트리밍 레이어용 슬롯</translation>
        </message>
        <message>
            <source>target KV cache</source>
            <translation>타깃 KV 캐시</translation>
        </message>
        <message>
            <source>target weights</source>
            <translation>타깃 가중치</translation>
        </message>
        <message>
            <source>target: the model that answers
draft: the small model that proposes tokens
heads: small networks that propose tokens from the target's own results
experts: parts of a layer of which each token uses a few; those used most stay in memory
KV cache: what a model remembers of the text so far
slots: buffers into which streamed layers are loaded in turn</source>
            <translation>타깃: 답변하는 모델
드래프트: 토큰을 제안하는 작은 모델
헤드: 타깃 자신의 결과로 토큰을 제안하는 작은 신경망
전문가: 토큰마다 몇 개만 쓰이는 레이어의 부분. 가장 많이 쓰인 것이 메모리에 남음
KV 캐시: 모델이 지금까지의 텍스트에서 기억하는 것
슬롯: 스트리밍 레이어를 차례로 불러오는 버퍼</translation>
        </message>
    </context>
    <context>
        <name>MemoryMark</name>
        <message>
            <source>Read all of it again</source>
            <translation>전부 다시 읽기</translation>
        </message>
        <message>
            <source>Send the whole chat to the model again</source>
            <translation>대화 전체를 모델에 다시 보내기</translation>
        </message>
        <message>
            <source>The model no longer reads what stands above.</source>
            <translation>모델은 이 위의 내용을 더 이상 읽지 않습니다.</translation>
        </message>
    </context>
    <context>
        <name>MessageActions</name>
        <message>
            <source>Answer again with the same seed</source>
            <translation>같은 시드로 다시 답하기</translation>
        </message>
        <message>
            <source>Answer again with the seed, settings and budgets of this answer. With the same models and the same arithmetic, the text is the same, except where the processor helps a graphics card with the experts of a mixture: there, rounding may change it.</source>
            <translation>이 답변의 시드, 설정, 예산으로 다시 답합니다. 모델과 연산 방식이 같으면 텍스트도 같습니다. 다만 프로세서가 전문가 혼합 모델의 전문가 계산으로 그래픽 카드를 돕는 경우에는 반올림 때문에 달라질 수 있습니다.</translation>
        </message>
        <message>
            <source>Answer again, with another seed</source>
            <translation>다른 시드로 다시 답하기</translation>
        </message>
        <message>
            <source>Answer this question twice, as a race</source>
            <translation>이 질문에 두 번 답해 경주시키기</translation>
        </message>
        <message>
            <source>Continue this answer</source>
            <translation>이 답변 계속하기</translation>
        </message>
        <message>
            <source>Copy message</source>
            <translation>메시지 복사</translation>
        </message>
        <message>
            <source>Delete this message and those that follow from it</source>
            <translation>이 메시지와 이어지는 메시지 삭제</translation>
        </message>
        <message>
            <source>Edit and send again</source>
            <translation>편집해서 다시 전송</translation>
        </message>
        <message>
            <source>Start a new chat from here</source>
            <translation>여기서부터 새 대화 시작</translation>
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
            <source>Ctrl+Enter. The previous version is kept.</source>
            <translation>Ctrl+Enter. 이전 버전은 유지됩니다.</translation>
        </message>
        <message>
            <source>Edit message</source>
            <translation>메시지 편집</translation>
        </message>
        <message>
            <source>Enter. The previous version is kept.</source>
            <translation>Enter. 이전 버전은 유지됩니다.</translation>
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
        <name>ModelsFolder</name>
        <message>
            <source>Models folder</source>
            <translation>모델 폴더</translation>
        </message>
        <message>
            <source>Moving your models</source>
            <translation>모델을 옮기는 중</translation>
        </message>
        <message>
            <source>The environment variable {} sets this folder.</source>
            <translation>이 폴더는 환경 변수 {}에서 정합니다.</translation>
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>1 model, {}</source>
            <translation>모델 1개, {}</translation>
        </message>
        <message>
            <source>Add a model file…</source>
            <translation>모델 파일 추가…</translation>
        </message>
        <message>
            <source>Delete the model</source>
            <translation>모델 삭제</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>삭제…</translation>
        </message>
        <message>
            <source>Load a model from a file anywhere on this machine</source>
            <translation>이 컴퓨터의 어느 위치에 있든 파일에서 모델을 불러옵니다</translation>
        </message>
        <message>
            <source>Models on this machine</source>
            <translation>이 컴퓨터의 모델</translation>
        </message>
        <message>
            <source>Move the models to another folder</source>
            <translation>모델을 다른 폴더로 옮기기</translation>
        </message>
        <message>
            <source>Move…</source>
            <translation>옮기기…</translation>
        </message>
        <message>
            <source>No models yet. Click the model's name at the top of the chat (Ctrl+M) to get one.</source>
            <translation>모델이 아직 없습니다. 대화 위쪽의 모델 이름을 클릭하면(Ctrl+M) 모델을 받을 수 있습니다.</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>열기</translation>
        </message>
        <message>
            <source>Open the models folder</source>
            <translation>모델 폴더 열기</translation>
        </message>
        <message>
            <source>{} models, {}</source>
            <translation>모델 {}개, {}</translation>
        </message>
    </context>
    <context>
        <name>MoreRoom</name>
        <message>
            <source>Ask without the files</source>
            <translation>파일 없이 질문하기</translation>
        </message>
        <message>
            <source>Edit the message</source>
            <translation>메시지 편집</translation>
        </message>
        <message>
            <source>Leave out the oldest turns</source>
            <translation>가장 오래된 문답 빼기</translation>
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
            <source>Details</source>
            <translation>세부 정보</translation>
        </message>
        <message>
            <source>Problem: {}</source>
            <translation>문제: {}</translation>
        </message>
    </context>
    <context>
        <name>OptionRow</name>
        <message>
            <source>Invalid value, not used. {}</source>
            <translation>잘못된 값이라 사용하지 않습니다. {}</translation>
        </message>
        <message>
            <source>Reset</source>
            <translation>되돌리기</translation>
        </message>
        <message>
            <source>Reset: {}</source>
            <translation>되돌리기: {}</translation>
        </message>
        <message>
            <source>{} Takes effect when the model is reloaded.</source>
            <translation>{} 모델을 다시 불러오면 적용됩니다.</translation>
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
            <source>A small model that guesses ahead, so that the large one answers faster.</source>
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
            <source>Estimated for this machine. People read about 5 tokens per second.</source>
            <translation>이 컴퓨터에서의 추정치. 사람은 초당 약 5토큰을 읽습니다.</translation>
        </message>
        <message>
            <source>Estimated time to the first token after a question of 1,000 tokens.</source>
            <translation>1,000토큰 질문 뒤 첫 토큰까지의 추정 시간.</translation>
        </message>
        <message>
            <source>First token</source>
            <translation>첫 토큰</translation>
        </message>
        <message>
            <source>Format</source>
            <translation>형식</translation>
        </message>
        <message>
            <source>How the weights are stored: fewer bits make a smaller download.</source>
            <translation>가중치를 저장하는 방식: 비트가 적을수록 다운로드가 작습니다.</translation>
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
            <source>Colour the answer</source>
            <translation>답변에 색 입히기</translation>
        </message>
        <message>
            <source>Colours each token by the drafter that proposed it. Point at a token to see its alternatives.</source>
            <translation>각 토큰을 제안한 드래프터에 따라 색을 입힙니다. 토큰을 가리키면 다른 후보가 보입니다.</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>내보내기</translation>
        </message>
        <message>
            <source>Its memory is the other machine's, which does not tell it.</source>
            <translation>메모리는 다른 컴퓨터의 것이며, 그 값은 알려지지 않습니다.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>속도</translation>
        </message>
        <message>
            <source>Table</source>
            <translation>표</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>시간</translation>
        </message>
        <message>
            <source>Token tree and statistics</source>
            <translation>토큰 트리와 통계</translation>
        </message>
        <message>
            <source>Tree</source>
            <translation>트리</translation>
        </message>
        <message>
            <source>What the words mean</source>
            <translation>용어 설명</translation>
        </message>
    </context>
    <context>
        <name>PassageList</name>
        <message>
            <source>Passages that the model has read</source>
            <translation>모델이 읽은 대목</translation>
        </message>
        <message>
            <source>Read for this answer:</source>
            <translation>이 답변을 위해 읽은 대목:</translation>
        </message>
        <message>
            <source>Show the passage: {}</source>
            <translation>대목 보기: {}</translation>
        </message>
    </context>
    <context>
        <name>PastedTexts</name>
        <message>
            <source>Pasted texts</source>
            <translation>붙여 넣은 텍스트</translation>
        </message>
        <message>
            <source>Remove the pasted text</source>
            <translation>붙여넣은 텍스트 제거</translation>
        </message>
        <message>
            <source>{} characters</source>
            <translation>{}자</translation>
        </message>
    </context>
    <context>
        <name>Picker</name>
        <message>
            <source>Add an engine…</source>
            <translation>엔진 추가…</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>삭제…</translation>
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
            <source>Load the model again with the current settings</source>
            <translation>현재 설정으로 모델 다시 불러오기</translation>
        </message>
        <message>
            <source>Look for an update…</source>
            <translation>업데이트 찾기…</translation>
        </message>
        <message>
            <source>Models</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>No models yet. Download one or open a file.</source>
            <translation>모델이 아직 없습니다. 하나를 다운로드하거나 파일을 여세요.</translation>
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
            <source>Recent</source>
            <translation>최근</translation>
        </message>
        <message>
            <source>Reload</source>
            <translation>다시 불러오기</translation>
        </message>
        <message>
            <source>Remove the model from memory</source>
            <translation>메모리에서 모델 제거</translation>
        </message>
        <message>
            <source>The model included with the program</source>
            <translation>프로그램에 포함된 모델</translation>
        </message>
        <message>
            <source>Unload</source>
            <translation>내리기</translation>
        </message>
        <message>
            <source>Update or delete</source>
            <translation>업데이트 또는 삭제</translation>
        </message>
        <message>
            <source>Update or delete {}</source>
            <translation>{} 업데이트 또는 삭제</translation>
        </message>
        <message>
            <source>Use a model of another machine or service</source>
            <translation>다른 컴퓨터나 서비스의 모델 사용</translation>
        </message>
        <message>
            <source>about {} tokens/s</source>
            <translation>약 {} 토큰/초</translation>
        </message>
        <message>
            <source>draft {}</source>
            <translation>드래프트 {}</translation>
        </message>
        <message>
            <source>drafts for itself</source>
            <translation>스스로 초안을 만듦</translation>
        </message>
        <message>
            <source>fits in RAM</source>
            <translation>RAM에 들어감</translation>
        </message>
        <message>
            <source>fits in VRAM</source>
            <translation>VRAM에 들어감</translation>
        </message>
        <message>
            <source>fits in VRAM and RAM</source>
            <translation>VRAM과 RAM에 들어감</translation>
        </message>
        <message>
            <source>loaded now</source>
            <translation>지금 불러와져 있음</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>드래프트 모델 없음</translation>
        </message>
        <message>
            <source>streamed from the disk</source>
            <translation>디스크에서 스트리밍</translation>
        </message>
        <message>
            <source>too large for this machine</source>
            <translation>이 컴퓨터에는 너무 큼</translation>
        </message>
        <message>
            <source>with the best draft model on this machine</source>
            <translation>이 컴퓨터에 있는 가장 좋은 드래프트 모델과 함께</translation>
        </message>
        <message>
            <source>{} · elsewhere, at {}</source>
            <translation>{} · 외부, {}</translation>
        </message>
    </context>
    <context>
        <name>PlaceSign</name>
        <message>
            <source>Goes to {}</source>
            <translation>{}(으)로 전송</translation>
        </message>
        <message>
            <source>On this machine</source>
            <translation>이 컴퓨터의 모델</translation>
        </message>
        <message>
            <source>What you write in chats is sent to {}, which answers.</source>
            <translation>대화에 쓴 내용은 {}(으)로 전송되고, 그곳에서 답변합니다.</translation>
        </message>
        <message>
            <source>What you write stays on this machine.</source>
            <translation>입력한 내용은 이 컴퓨터에 남습니다.</translation>
        </message>
    </context>
    <context>
        <name>PresetsPage</name>
        <message>
            <source>A preset named {} already exists. Replace it?</source>
            <translation>{}(이)라는 프리셋이 이미 있습니다. 바꿀까요?</translation>
        </message>
        <message>
            <source>A preset stores a chat's settings under a name, so that you can use them in other chats.</source>
            <translation>프리셋은 대화의 설정에 이름을 붙여 저장해, 다른 대화에서 쓸 수 있게 합니다.</translation>
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
            <source>Name</source>
            <translation>이름</translation>
        </message>
        <message>
            <source>Presets</source>
            <translation>프리셋</translation>
        </message>
        <message>
            <source>Replace</source>
            <translation>바꾸기</translation>
        </message>
        <message>
            <source>Save preset</source>
            <translation>프리셋 저장</translation>
        </message>
        <message>
            <source>Save this chat's settings…</source>
            <translation>이 대화의 설정 저장…</translation>
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
            <source>{} could not be written: {}</source>
            <translation>{}에 쓸 수 없었음: {}</translation>
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
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>Not running</source>
            <translation>진행 중 아님</translation>
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
            <source>Resume</source>
            <translation>재개</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>중단됨</translation>
        </message>
        <message>
            <source>The {} received so far will be deleted.</source>
            <translation>지금까지 받은 데이터({})가 삭제됩니다.</translation>
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
        <name>PromptFields</name>
        <message>
            <source>Insert</source>
            <translation>넣기</translation>
        </message>
        <message>
            <source>Saved prompt</source>
            <translation>저장된 프롬프트</translation>
        </message>
    </context>
    <context>
        <name>PromptOffer</name>
        <message>
            <source>No prompts yet. You can save some in the settings.</source>
            <translation>아직 프롬프트가 없습니다. 설정에서 저장할 수 있습니다.</translation>
        </message>
        <message>
            <source>Saved prompts</source>
            <translation>저장된 프롬프트</translation>
        </message>
    </context>
    <context>
        <name>PromptsPage</name>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Export all…</source>
            <translation>모두 내보내기…</translation>
        </message>
        <message>
            <source>Export prompts</source>
            <translation>프롬프트 내보내기</translation>
        </message>
        <message>
            <source>Exported to {}</source>
            <translation>{}(으)로 내보냄</translation>
        </message>
        <message>
            <source>Import prompts</source>
            <translation>프롬프트 가져오기</translation>
        </message>
        <message>
            <source>Import…</source>
            <translation>가져오기…</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>이름</translation>
        </message>
        <message>
            <source>New</source>
            <translation>새로 만들기</translation>
        </message>
        <message>
            <source>Prompts</source>
            <translation>프롬프트</translation>
        </message>
        <message>
            <source>Prompts imported: {}</source>
            <translation>가져온 프롬프트: {}</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>저장</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>내용</translation>
        </message>
        <message>
            <source>The prompts are as they were before.</source>
            <translation>프롬프트를 이전 상태로 되돌렸습니다.</translation>
        </message>
        <message>
            <source>Translate into {{language}}:</source>
            <translation>{{language}}로 번역:</translation>
        </message>
        <message>
            <source>Type / at the beginning of a message to insert a prompt. Names between double braces, such as {{language}}, are asked for.</source>
            <translation>메시지 맨 앞에 /를 입력하면 프롬프트를 넣을 수 있습니다. {{language}}처럼 이중 중괄호 안의 이름은 값을 묻습니다.</translation>
        </message>
        <message>
            <source>Undo</source>
            <translation>실행 취소</translation>
        </message>
        <message>
            <source>{} could not be written: {}</source>
            <translation>{}에 쓸 수 없었음: {}</translation>
        </message>
        <message>
            <source>{} was deleted.</source>
            <translation>{}을(를) 삭제했습니다.</translation>
        </message>
        <message>
            <source>{} was saved.</source>
            <translation>{}을(를) 저장했습니다.</translation>
        </message>
    </context>
    <context>
        <name>QuestionView</name>
        <message>
            <source>Your message</source>
            <translation>내 메시지</translation>
        </message>
    </context>
    <context>
        <name>RaceDialog</name>
        <message>
            <source>Open a recording</source>
            <translation>기록 열기</translation>
        </message>
        <message>
            <source>Race</source>
            <translation>경주</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>엔진 다시 시작</translation>
        </message>
        <message>
            <source>Save picture</source>
            <translation>그림 저장</translation>
        </message>
        <message>
            <source>Save recording</source>
            <translation>기록 저장</translation>
        </message>
        <message>
            <source>Saved as {}.</source>
            <translation>{}(으)로 저장했습니다.</translation>
        </message>
        <message>
            <source>The first model is being loaded back.</source>
            <translation>첫 번째 모델을 다시 불러오는 중입니다.</translation>
        </message>
        <message>
            <source>The first model is being loaded back. {}</source>
            <translation>첫 번째 모델을 다시 불러오는 중입니다. {}</translation>
        </message>
        <message>
            <source>The picture is in the clipboard.</source>
            <translation>그림을 클립보드에 복사했습니다.</translation>
        </message>
        <message>
            <source>finished after {} s</source>
            <translation>{}초 만에 끝남</translation>
        </message>
        <message>
            <source>preparing…</source>
            <translation>준비 중…</translation>
        </message>
        <message>
            <source>reading the question…</source>
            <translation>질문을 읽는 중…</translation>
        </message>
        <message>
            <source>running alone…</source>
            <translation>혼자 달리는 중…</translation>
        </message>
    </context>
    <context>
        <name>RacePage</name>
        <message>
            <source>Another race…</source>
            <translation>다시 경주…</translation>
        </message>
        <message>
            <source>Copy picture</source>
            <translation>그림 복사</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>일시 정지</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>재생</translation>
        </message>
        <message>
            <source>Save picture…</source>
            <translation>그림 저장…</translation>
        </message>
        <message>
            <source>Save recording…</source>
            <translation>기록 저장…</translation>
        </message>
        <message>
            <source>Speed of the replay</source>
            <translation>재생 속도</translation>
        </message>
        <message>
            <source>Stop the race</source>
            <translation>경주 중지</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>시간</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>대기</translation>
        </message>
        <message>
            <source>{} of {} s</source>
            <translation>{} / {}초</translation>
        </message>
    </context>
    <context>
        <name>RaceRun</name>
        <message>
            <source>The race was stopped.</source>
            <translation>경주가 중지되었습니다.</translation>
        </message>
    </context>
    <context>
        <name>RaceStart</name>
        <message>
            <source>A question for both answers</source>
            <translation>두 답변에 쓸 질문</translation>
        </message>
        <message>
            <source>One question, two answers. Each runs alone, since together they would halve each other; then both are shown on one clock, from the first token of each.</source>
            <translation>질문 하나에 답변 둘입니다. 함께 실행하면 서로 느려지므로 하나씩 따로 실행한 뒤, 각자의 첫 토큰부터 같은 시계로 함께 보여 줍니다.</translation>
        </message>
        <message>
            <source>Open a recording…</source>
            <translation>기록 열기…</translation>
        </message>
        <message>
            <source>Question</source>
            <translation>질문</translation>
        </message>
        <message>
            <source>Race</source>
            <translation>경주</translation>
        </message>
        <message>
            <source>Second model</source>
            <translation>두 번째 모델</translation>
        </message>
        <message>
            <source>SpecExec against plain decoding</source>
            <translation>일반 디코딩과 SpecExec 비교</translation>
        </message>
        <message>
            <source>Start the race</source>
            <translation>경주 시작</translation>
        </message>
        <message>
            <source>The loaded model against another one:</source>
            <translation>불러온 모델 대 다른 모델:</translation>
        </message>
        <message>
            <source>The model cannot answer now.</source>
            <translation>지금은 모델이 답할 수 없습니다.</translation>
        </message>
        <message>
            <source>Tokens of an answer, at most</source>
            <translation>답변의 최대 토큰 수</translation>
        </message>
    </context>
    <context>
        <name>ReadyPage</name>
        <message>
            <source>Every file was verified with its published checksum. Loading takes a few seconds to a few minutes; then you can chat, even without an Internet connection.</source>
            <translation>모든 파일을 공개된 체크섬으로 검증했습니다. 불러오는 데 몇 초에서 몇 분이 걸립니다. 그다음에는 인터넷 연결 없이도 대화할 수 있습니다.</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>지금 불러오기</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>준비</translation>
        </message>
        <message>
            <source>Your model is ready</source>
            <translation>모델이 준비되었습니다</translation>
        </message>
    </context>
    <context>
        <name>Recommended</name>
        <message>
            <source>Already on this machine</source>
            <translation>이미 이 컴퓨터에 있음</translation>
        </message>
        <message>
            <source>Choose the recommended model, {}</source>
            <translation>추천 모델 선택, {}</translation>
        </message>
        <message>
            <source>Choose this model</source>
            <translation>이 모델 선택</translation>
        </message>
        <message>
            <source>Larger and slower</source>
            <translation>더 크고 더 느림</translation>
        </message>
        <message>
            <source>Larger, later to begin</source>
            <translation>더 크고 더 늦게 시작함</translation>
        </message>
        <message>
            <source>Recommended for this machine</source>
            <translation>이 컴퓨터에 추천</translation>
        </message>
        <message>
            <source>Smaller and faster</source>
            <translation>더 작고 더 빠름</translation>
        </message>
        <message>
            <source>{} to download</source>
            <translation>다운로드 {}</translation>
        </message>
        <message>
            <source>{} {}, {}.</source>
            <translation>{} {}, {}.</translation>
        </message>
    </context>
    <context>
        <name>Remedies</name>
        <message>
            <source>A race compares ways of answering on this machine, not at {}.</source>
            <translation>경주는 {}이(가) 아니라 이 컴퓨터의 답변 방식을 비교합니다.</translation>
        </message>
        <message>
            <source>Choose another model</source>
            <translation>다른 모델 선택</translation>
        </message>
        <message>
            <source>Get a model</source>
            <translation>모델 받기</translation>
        </message>
        <message>
            <source>Load a model on this machine, then try again.</source>
            <translation>이 컴퓨터에 모델을 로드한 뒤 다시 시도하세요.</translation>
        </message>
        <message>
            <source>Set up PyTorch</source>
            <translation>PyTorch 설치</translation>
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation>이 대화의 설정</translation>
        </message>
        <message>
            <source>Settings of {}</source>
            <translation>{} 설정</translation>
        </message>
        <message>
            <source>Use a model on this machine</source>
            <translation>이 컴퓨터의 모델 사용</translation>
        </message>
    </context>
    <context>
        <name>Removal</name>
        <message>
            <source>Also delete its draft {}, {}</source>
            <translation>드래프트 {}({})도 삭제</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Delete</source>
            <translation>삭제</translation>
        </message>
        <message>
            <source>Delete {}?</source>
            <translation>{}을(를) 삭제할까요?</translation>
        </message>
        <message>
            <source>It is the draft of {}, which will answer more slowly without it.</source>
            <translation>{}의 드래프트입니다. 삭제하면 이 모델의 답변이 느려집니다.</translation>
        </message>
        <message>
            <source>Its draft {} stays, because {} uses it, too.</source>
            <translation>드래프트 {}은(는) 남습니다. {}에서도 사용하기 때문입니다.</translation>
        </message>
        <message>
            <source>Keep</source>
            <translation>유지</translation>
        </message>
        <message>
            <source>This frees {}.</source>
            <translation>{}가 비워집니다.</translation>
        </message>
        <message>
            <source>Unload it first, or load another model: click the model's name at the top of the chat (Ctrl+M). Then delete it.</source>
            <translation>먼저 내리거나 다른 모델을 불러오십시오. 대화 위쪽의 모델 이름(Ctrl+M)을 클릭하면 됩니다. 그런 다음 삭제하십시오.</translation>
        </message>
        <message>
            <source>{} is loaded.</source>
            <translation>{} 모델이 불러와져 있습니다.</translation>
        </message>
    </context>
    <context>
        <name>Reports</name>
        <message>
            <source>Answer complete: {}</source>
            <translation>답변 완료: {}</translation>
        </message>
        <message>
            <source>Answer not complete. {}: {}</source>
            <translation>답변이 완료되지 않았습니다. {}: {}</translation>
        </message>
        <message>
            <source>Back to {}</source>
            <translation>{}(으)로 돌아가기</translation>
        </message>
        <message>
            <source>Cancel loading</source>
            <translation>불러오기 취소</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Connect again</source>
            <translation>다시 연결</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>계속</translation>
        </message>
        <message>
            <source>In “{}”: {}</source>
            <translation>“{}”에서: {}</translation>
        </message>
        <message>
            <source>It can answer about {} times as fast</source>
            <translation>약 {}배 빠르게 답할 수 있습니다</translation>
        </message>
        <message>
            <source>It repeats itself</source>
            <translation>같은 말을 되풀이합니다</translation>
        </message>
        <message>
            <source>Keep it so</source>
            <translation>이대로 두기</translation>
        </message>
        <message>
            <source>Let it draft for itself</source>
            <translation>스스로 초안 만들기</translation>
        </message>
        <message>
            <source>Load in full again</source>
            <translation>다시 온전히 불러오기</translation>
        </message>
        <message>
            <source>Loading goes on as soon as the disk does. See that it is connected, or cancel loading.</source>
            <translation>디스크가 응답하면 불러오기가 바로 이어집니다. 디스크가 연결되어 있는지 확인하거나 불러오기를 취소하세요.</translation>
        </message>
        <message>
            <source>Memory ran out before, so the model was loaded by a smaller plan. It may answer more slowly, or remember less of a chat. Close other programs to free memory, then load it in full again.</source>
            <translation>앞서 메모리가 부족해져 모델을 더 작은 구성으로 불러왔습니다. 답변이 느려지거나 대화를 더 적게 기억할 수 있습니다. 다른 프로그램을 닫아 메모리를 확보한 뒤 다시 온전히 불러오세요.</translation>
        </message>
        <message>
            <source>Not now</source>
            <translation>나중에</translation>
        </message>
        <message>
            <source>Open log</source>
            <translation>로그 열기</translation>
        </message>
        <message>
            <source>Reload</source>
            <translation>다시 불러오기</translation>
        </message>
        <message>
            <source>Restart engine</source>
            <translation>엔진 다시 시작</translation>
        </message>
        <message>
            <source>Restart with the safer plan</source>
            <translation>더 안전한 방식으로 다시 시작</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>중지</translation>
        </message>
        <message>
            <source>Stop here</source>
            <translation>여기서 멈추기</translation>
        </message>
        <message>
            <source>The answer goes on as soon as the disk does. See that it is connected, or stop the answer: the text so far stays.</source>
            <translation>디스크가 응답하면 답변이 바로 이어집니다. 디스크가 연결되어 있는지 확인하거나 답변을 중지하세요. 지금까지의 텍스트는 남습니다.</translation>
        </message>
        <message>
            <source>The answer says the same over and over, so it was stopped. “DRY penalty”, in this chat's settings, makes that less likely.</source>
            <translation>답변이 같은 말을 끝없이 되풀이하여 멈췄습니다. 이 대화의 설정에 있는 “DRY 페널티”를 쓰면 이런 일이 줄어듭니다.</translation>
        </message>
        <message>
            <source>The disk with the model does not answer</source>
            <translation>모델이 있는 디스크가 응답하지 않습니다</translation>
        </message>
        <message>
            <source>The model runs with less memory now</source>
            <translation>모델이 지금은 더 적은 메모리로 실행됩니다</translation>
        </message>
        <message>
            <source>This model is read from the disk again and again. It can draft for itself: a copy in fewer bits is made once, which takes {} of the disk.</source>
            <translation>이 모델은 디스크에서 계속 다시 읽힙니다. 스스로 초안을 만들 수 있습니다. 더 적은 비트의 사본을 한 번 만들며, 디스크 공간 {}을(를) 차지합니다.</translation>
        </message>
        <message>
            <source>This model is read from the disk again and again. It can draft for itself: the copy in fewer bits that it needs is on the disk already.</source>
            <translation>이 모델은 디스크에서 계속 다시 읽힙니다. 스스로 초안을 만들 수 있습니다. 여기에 필요한 더 적은 비트의 사본은 이미 디스크에 있습니다.</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
    </context>
    <context>
        <name>RepositoryView</name>
        <message>
            <source>A draft is optional. Without one, the model answers more slowly.</source>
            <translation>드래프트는 없어도 됩니다. 없으면 모델이 더 느리게 답합니다.</translation>
        </message>
        <message>
            <source>Checking whether {} fits…</source>
            <translation>{}이(가) 맞는지 확인하는 중…</translation>
        </message>
        <message>
            <source>Draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>Formats of this model</source>
            <translation>이 모델의 형식</translation>
        </message>
        <message>
            <source>No draft</source>
            <translation>드래프트 없음</translation>
        </message>
        <message>
            <source>No draft is known for this model. It works without one, only more slowly.</source>
            <translation>이 모델에 맞는 알려진 드래프트가 없습니다. 없어도 실행되며, 다만 더 느립니다.</translation>
        </message>
        <message>
            <source>The draft could not be checked: {}</source>
            <translation>드래프트를 확인할 수 없었습니다: {}</translation>
        </message>
        <message>
            <source>There is no estimate for this pair. Its speed is measured once it is loaded.</source>
            <translation>이 조합의 추정치는 없습니다. 속도는 불러온 뒤에 측정됩니다.</translation>
        </message>
        <message>
            <source>account required</source>
            <translation>계정 필요</translation>
        </message>
        <message>
            <source>on this machine</source>
            <translation>이 컴퓨터에 있음</translation>
        </message>
        <message>
            <source>original format</source>
            <translation>원본 형식</translation>
        </message>
    </context>
    <context>
        <name>ResetButton</name>
        <message>
            <source>Undo the reset</source>
            <translation>되돌린 설정 복원</translation>
        </message>
    </context>
    <context>
        <name>RestOfQuestion</name>
        <message>
            <source>Show more</source>
            <translation>더 보기</translation>
        </message>
        <message>
            <source>Show more of the message</source>
            <translation>메시지를 더 보기</translation>
        </message>
        <message>
            <source>The first {} of {} characters are shown; all were sent.</source>
            <translation>{1}자 중 처음 {0}자만 표시됩니다. 모두 전송되었습니다.</translation>
        </message>
    </context>
    <context>
        <name>RunPage</name>
        <message>
            <source>Copy table</source>
            <translation>표 복사</translation>
        </message>
        <message>
            <source>Drafted tokens in the tree</source>
            <translation>트리에 있는 제안된 토큰 수</translation>
        </message>
        <message>
            <source>Drafted tokens that the target accepted</source>
            <translation>제안된 토큰 중 타깃이 채택한 수</translation>
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
            <source>Seconds that the target waited for streamed weights</source>
            <translation>타깃이 스트리밍 가중치를 기다린 시간(초)</translation>
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
            <source>waiting, s</source>
            <translation>대기, 초</translation>
        </message>
    </context>
    <context>
        <name>SearchPalette</name>
        <message>
            <source>No results for “{}”.

A message must contain all words. The beginning of a word is enough.</source>
            <translation>“{}”에 대한 결과가 없습니다.

메시지에 모든 단어가 들어 있어야 합니다. 단어의 앞부분만 입력해도 됩니다.</translation>
        </message>
        <message>
            <source>Results</source>
            <translation>검색 결과</translation>
        </message>
        <message>
            <source>Search all chats</source>
            <translation>모든 대화 검색</translation>
        </message>
        <message>
            <source>The arrow keys move through the results; Enter opens the selected one.</source>
            <translation>화살표 키로 결과 사이를 움직이고, Enter로 선택한 결과를 엽니다.</translation>
        </message>
        <message>
            <source>↑ ↓ Select     Enter Open     Esc Close</source>
            <translation>↑ ↓ 선택     Enter 열기     Esc 닫기</translation>
        </message>
    </context>
    <context>
        <name>SearchResults</name>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
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
            <source>Recent</source>
            <translation>최근</translation>
        </message>
        <message>
            <source>You</source>
            <translation>나</translation>
        </message>
    </context>
    <context>
        <name>ServerCard</name>
        <message>
            <source>Address</source>
            <translation>주소</translation>
        </message>
        <message>
            <source>Changes apply once the server is started again.</source>
            <translation>변경 사항은 서버를 다시 시작하면 적용됩니다.</translation>
        </message>
        <message>
            <source>Ending…</source>
            <translation>종료하는 중…</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>키</translation>
        </message>
        <message>
            <source>Lets editors, agents and scripts use the model that is loaded here, through OpenAI's and Anthropic's interfaces. It ends with the window.</source>
            <translation>편집기, 에이전트, 스크립트가 OpenAI 및 Anthropic 인터페이스로 여기에 로드된 모델을 사용할 수 있게 합니다. 창을 닫으면 종료됩니다.</translation>
        </message>
        <message>
            <source>Local server</source>
            <translation>로컬 서버</translation>
        </message>
        <message>
            <source>Make another key; the present one ends</source>
            <translation>다른 키 만들기(현재 키는 무효화됨)</translation>
        </message>
        <message>
            <source>New key</source>
            <translation>새 키</translation>
        </message>
        <message>
            <source>Open log</source>
            <translation>로그 열기</translation>
        </message>
        <message>
            <source>Restart the server</source>
            <translation>서버 다시 시작</translation>
        </message>
        <message>
            <source>Start again</source>
            <translation>다시 시작</translation>
        </message>
        <message>
            <source>Starting… Requests are answered once the model is loaded.</source>
            <translation>시작하는 중… 모델이 로드되면 요청에 답변합니다.</translation>
        </message>
        <message>
            <source>Starting… Waiting for the key from the system's keyring.</source>
            <translation>시작하는 중… 시스템 키링에서 키를 기다리고 있습니다.</translation>
        </message>
        <message>
            <source>This system has no keyring, or it stays locked: the key is kept in a file that only you can read.</source>
            <translation>이 시스템에 키링이 없거나 잠겨 있습니다. 키는 본인만 읽을 수 있는 파일에 보관됩니다.</translation>
        </message>
        <message>
            <source>○ Off</source>
            <translation>○ 꺼짐</translation>
        </message>
        <message>
            <source>● Running. Requests answered: {}</source>
            <translation>● 실행 중. 답변한 요청: {}</translation>
        </message>
        <message>
            <source>✕ Not running</source>
            <translation>✕ 실행 중이 아님</translation>
        </message>
    </context>
    <context>
        <name>ServerPage</name>
        <message>
            <source>Copy</source>
            <translation>복사</translation>
        </message>
        <message>
            <source>Copy the example, with the key</source>
            <translation>키를 포함하여 예제 복사</translation>
        </message>
        <message>
            <source>Example</source>
            <translation>예제</translation>
        </message>
    </context>
    <context>
        <name>ServerSign</name>
        <message>
            <source>The local server runs at {}</source>
            <translation>로컬 서버가 {}에서 실행 중입니다</translation>
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
            <source>Engines elsewhere</source>
            <translation>외부 엔진</translation>
        </message>
        <message>
            <source>For models on this machine. The engine at {} decides how it loads its own.</source>
            <translation>이 컴퓨터의 모델에만 적용됩니다. {}의 엔진은 자체 모델의 로드 방식을 스스로 결정합니다.</translation>
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
            <source>Prompts</source>
            <translation>프롬프트</translation>
        </message>
        <message>
            <source>Reload the model</source>
            <translation>모델 다시 불러오기</translation>
        </message>
        <message>
            <source>Reset all</source>
            <translation>모두 되돌리기</translation>
        </message>
        <message>
            <source>Reset all to the settings for new chats</source>
            <translation>모두 새 대화의 설정으로 되돌리기</translation>
        </message>
        <message>
            <source>Server</source>
            <translation>서버</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>설정</translation>
        </message>
        <message>
            <source>The engine at {} decides this.</source>
            <translation>{}의 엔진이 결정합니다.</translation>
        </message>
        <message>
            <source>This chat</source>
            <translation>이 대화</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>도구</translation>
        </message>
    </context>
    <context>
        <name>SetupPage</name>
        <message>
            <source>A graphics card, and models that the built-in engine does not cover, need PyTorch. The version that suits this machine is downloaded once. You can chat in the meantime.</source>
            <translation>그래픽 카드와 기본 엔진이 지원하지 않는 모델에는 PyTorch가 필요합니다. 이 컴퓨터에 맞는 버전을 한 번만 다운로드합니다. 그동안 대화할 수 있습니다.</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Engine</source>
            <translation>엔진</translation>
        </message>
        <message>
            <source>Set up</source>
            <translation>설치</translation>
        </message>
        <message>
            <source>Set up ({})</source>
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
            <source>The engine is ready. Close this window to go on chatting, or choose a larger model.</source>
            <translation>엔진이 준비되었습니다. 이 창을 닫고 대화를 계속하거나 더 큰 모델을 고르세요.</translation>
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
            <source>Not enough disk space: {} needed, {} free. Free up some space first.</source>
            <translation>디스크 공간이 부족합니다. {} 필요, {} 남음. 먼저 공간을 확보하세요.</translation>
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
            <source>Set up from a runtime file, without a network connection</source>
            <translation>네트워크 연결 없이 런타임 파일로 설치</translation>
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>Open folder</source>
            <translation>폴더 열기</translation>
        </message>
        <message>
            <source>Saved as {}</source>
            <translation>{}(으)로 저장됨</translation>
        </message>
        <message>
            <source>Your chats will be listed here.

You can import chats from ChatGPT in the menu “⋯” above.</source>
            <translation>여기에 대화가 나열됩니다.

위의 메뉴 “⋯”에서 ChatGPT의 대화를 가져올 수 있습니다.</translation>
        </message>
    </context>
    <context>
        <name>SidebarHeader</name>
        <message>
            <source>Bring back chats from a backup…</source>
            <translation>백업에서 대화 되살리기…</translation>
        </message>
        <message>
            <source>Export all chats…</source>
            <translation>모든 대화 내보내기…</translation>
        </message>
        <message>
            <source>Folders, import, export, keyboard shortcuts, logs</source>
            <translation>폴더, 가져오기, 내보내기, 단축키, 로그</translation>
        </message>
        <message>
            <source>Import chats…</source>
            <translation>대화 가져오기…</translation>
        </message>
        <message>
            <source>Keyboard shortcuts…</source>
            <translation>단축키…</translation>
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
            <source>Open log folder</source>
            <translation>로그 폴더 열기</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>검색</translation>
        </message>
        <message>
            <source>Search all chats (Ctrl+K)</source>
            <translation>모든 대화 검색 (Ctrl+K)</translation>
        </message>
    </context>
    <context>
        <name>SourcesView</name>
        <message>
            <source>An address must start with {}.</source>
            <translation>주소는 {}(으)로 시작해야 합니다.</translation>
        </message>
        <message>
            <source>Every package is verified with a checksum from this program, whatever its source.</source>
            <translation>패키지를 어디에서 받든 이 프로그램에 들어 있는 체크섬으로 검증합니다.</translation>
        </message>
        <message>
            <source>Package index mirror</source>
            <translation>패키지 색인 미러</translation>
        </message>
        <message>
            <source>Proxy</source>
            <translation>프록시</translation>
        </message>
        <message>
            <source>PyTorch index mirror</source>
            <translation>PyTorch 색인 미러</translation>
        </message>
        <message>
            <source>{}: “{}” is not a valid address.</source>
            <translation>{}: “{}”은(는) 올바른 주소가 아닙니다.</translation>
        </message>
    </context>
    <context>
        <name>SpeedPage</name>
        <message>
            <source>Answers one question twice and shows both answers on one clock</source>
            <translation>한 질문에 두 번 답하고, 두 답변을 같은 시계로 나란히 보여 줍니다</translation>
        </message>
        <message>
            <source>Generates a short answer ({} tokens) without a drafter, as a reference. The result is kept.</source>
            <translation>비교 기준이 되도록 드래프터 없이 짧은 답변({} 토큰)을 생성합니다. 결과는 저장됩니다.</translation>
        </message>
        <message>
            <source>Measure plain decoding</source>
            <translation>일반 디코딩 측정</translation>
        </message>
        <message>
            <source>Measuring plain decoding…</source>
            <translation>일반 디코딩을 측정하는 중…</translation>
        </message>
        <message>
            <source>Race against plain decoding…</source>
            <translation>일반 디코딩과 경주…</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>속도</translation>
        </message>
        <message>
            <source>When an answer is complete, this page explains its speed.</source>
            <translation>답변이 끝나면 이 페이지에서 그 속도를 설명합니다.</translation>
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
            <source>now {} tokens/s, average {} tokens/s</source>
            <translation>지금 {} 토큰/초, 평균 {} 토큰/초</translation>
        </message>
        <message>
            <source>whole answer</source>
            <translation>답변 전체</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{}초</translation>
        </message>
    </context>
    <context>
        <name>SplitBar</name>
        <message>
            <source>Time by phase</source>
            <translation>단계별 시간</translation>
        </message>
        <message>
            <source>draft</source>
            <translation>드래프트</translation>
        </message>
        <message>
            <source>draft: proposing the token tree
target: computing the target's pass, which verifies the tree
waiting: the target waits for streamed weights
other: everything else</source>
            <translation>드래프트: 토큰 트리를 제안합니다
타깃: 트리를 검증하는 타깃의 패스를 계산합니다
대기: 타깃이 스트리밍 가중치를 기다립니다
기타: 그 밖의 모든 것</translation>
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
            <source>Seconds from the request to the first token. In this time, the model reads the prompt.</source>
            <translation>요청부터 첫 토큰까지 걸린 시간(초). 그동안 모델이 프롬프트를 읽습니다.</translation>
        </message>
        <message>
            <source>The drafter is the method that proposes tokens; the budget is the maximum number of tokens in one tree of proposals.</source>
            <translation>드래프터는 토큰을 제안하는 방법이고, 예산은 제안 트리 하나의 최대 토큰 수입니다.</translation>
        </message>
        <message>
            <source>Tokens generated per second. A token is a word or a part of a word.</source>
            <translation>초당 생성된 토큰 수. 토큰은 단어 또는 단어의 일부입니다.</translation>
        </message>
        <message>
            <source>Tokens that one pass of the target model adds to the answer, on average. Without speculative decoding, it is 1.</source>
            <translation>타깃 모델의 패스 하나가 답변에 더하는 평균 토큰 수. 추측 디코딩이 없으면 1입니다.</translation>
        </message>
        <message>
            <source>answered by {}</source>
            <translation>{}에서 답변</translation>
        </message>
        <message>
            <source>drafter: {}</source>
            <translation>드래프터: {}</translation>
        </message>
        <message>
            <source>drafter: {}, budget: {}</source>
            <translation>드래프터: {}, 예산: {}</translation>
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
            <source>Answering</source>
            <translation>답변 중</translation>
        </message>
        <message>
            <source>Answering {}</source>
            <translation>{}에 답하는 중</translation>
        </message>
        <message>
            <source>Answering…</source>
            <translation>답변하는 중…</translation>
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
            <source>The disk has not answered for {} s</source>
            <translation>디스크가 {}초 동안 응답하지 않음</translation>
        </message>
        <message>
            <source>Waiting for {}</source>
            <translation>{}을(를) 기다리는 중</translation>
        </message>
        <message>
            <source>another program</source>
            <translation>다른 프로그램</translation>
        </message>
        <message>
            <source>at most {} left</source>
            <translation>최대 {} 남음</translation>
        </message>
        <message>
            <source>checking the guesses: {}%</source>
            <translation>추측 확인 중: {}%</translation>
        </message>
        <message>
            <source>guessing ahead</source>
            <translation>미리 추측하는 중</translation>
        </message>
        <message>
            <source>probably about {} left</source>
            <translation>아마 약 {} 남음</translation>
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
            <source>○ Unloaded (idle)</source>
            <translation>○ 내려짐 (유휴)</translation>
        </message>
        <message>
            <source>● Ready</source>
            <translation>● 준비됨</translation>
        </message>
        <message>
            <source>✕ No model loaded</source>
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
            <source>Iteration</source>
            <translation>반복</translation>
        </message>
        <message>
            <source>Iterations of the answer; at the right end, the newest one is shown</source>
            <translation>답변의 반복입니다. 오른쪽 끝에서는 가장 새 반복을 보여 줍니다</translation>
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
        <name>ThoughtChip</name>
        <message>
            <source>Change how long the model thinks</source>
            <translation>모델이 생각하는 길이 바꾸기</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>생각</translation>
        </message>
        <message>
            <source>Thinking: {}</source>
            <translation>생각: {}</translation>
        </message>
        <message>
            <source>{}, at most {} tokens</source>
            <translation>{}, 최대 {}토큰</translation>
        </message>
    </context>
    <context>
        <name>ThoughtPopup</name>
        <message>
            <source>At its limit, the thought is closed and the answer begins.</source>
            <translation>한도에 이르면 생각을 끝내고 답변을 시작합니다.</translation>
        </message>
        <message>
            <source>At most</source>
            <translation>최대</translation>
        </message>
        <message>
            <source>No limit</source>
            <translation>한도 없음</translation>
        </message>
        <message>
            <source>Think before answering</source>
            <translation>답하기 전에 생각하기</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>생각</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>토큰</translation>
        </message>
    </context>
    <context>
        <name>ThoughtView</name>
        <message>
            <source>Answer now</source>
            <translation>지금 답하기</translation>
        </message>
        <message>
            <source>End the thought and answer now</source>
            <translation>생각을 끝내고 지금 답하기</translation>
        </message>
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
            <source>collapsed</source>
            <translation>접힘</translation>
        </message>
        <message>
            <source>expanded</source>
            <translation>펼쳐짐</translation>
        </message>
        <message>
            <source>{} tokens</source>
            <translation>{}토큰</translation>
        </message>
    </context>
    <context>
        <name>TimePage</name>
        <message>
            <source>Accepted nodes per iteration</source>
            <translation>반복당 채택된 노드 수</translation>
        </message>
        <message>
            <source>All weights are in memory; nothing is streamed.</source>
            <translation>모든 가중치가 메모리에 있어 스트리밍하지 않습니다.</translation>
        </message>
        <message>
            <source>How often the target accepted 0, 1, 2 or more drafted tokens in one iteration.</source>
            <translation>반복 하나에서 타깃이 제안된 토큰을 0개, 1개, 2개 또는 그 이상 채택한 횟수.</translation>
        </message>
        <message>
            <source>Layers of the current pass</source>
            <translation>현재 패스의 레이어</translation>
        </message>
        <message>
            <source>Seconds of each iteration</source>
            <translation>각 반복에 걸린 시간(초)</translation>
        </message>
        <message>
            <source>The target verifies the tree layer by layer.</source>
            <translation>타깃은 트리를 레이어별로 검증합니다.</translation>
        </message>
        <message>
            <source>Tokens/s</source>
            <translation>토큰/초</translation>
        </message>
        <message>
            <source>Weights that do not fit in the memory of the compute device are streamed in every pass.</source>
            <translation>연산 장치의 메모리에 들어가지 않는 가중치는 패스마다 스트리밍합니다.</translation>
        </message>
    </context>
    <context>
        <name>ToolList</name>
        <message>
            <source>Tools; a tick: may be called without asking</source>
            <translation>도구. 선택하면 묻지 않고 호출할 수 있음</translation>
        </message>
    </context>
    <context>
        <name>ToolServerEditor</name>
        <message>
            <source>A command runs with your rights, as any program that you start: add only servers that you trust. It gets none of your environment variables but those it needs to start, and those you write here. An address receives what its tools are called with. Its key is stored in this system's keyring, and is sent only there.</source>
            <translation>명령은 직접 시작한 다른 프로그램처럼 사용자의 권한으로 실행됩니다. 믿는 서버만 추가하세요. 환경 변수는 시작에 필요한 것과 여기에 적은 것만 받습니다. 주소로 된 서버는 도구를 호출한 인수를 받습니다. 키는 시스템 키링에 저장되며 그곳으로만 전송됩니다.</translation>
        </message>
        <message>
            <source>A program and its arguments</source>
            <translation>프로그램과 그 인수</translation>
        </message>
        <message>
            <source>Add a tool server</source>
            <translation>도구 서버 추가</translation>
        </message>
        <message>
            <source>Answers may call these tools, after asking you</source>
            <translation>답변이 사용자에게 물은 뒤 이 도구를 호출할 수 있음</translation>
        </message>
        <message>
            <source>Asking for its tools…</source>
            <translation>도구 목록을 묻는 중…</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>취소</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>명령</translation>
        </message>
        <message>
            <source>Connect and list its tools</source>
            <translation>연결하여 도구 목록 보기</translation>
        </message>
        <message>
            <source>How you want to call it</source>
            <translation>원하는 이름</translation>
        </message>
        <message>
            <source>It offers no tools that can be used.</source>
            <translation>쓸 수 있는 도구가 없습니다.</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>키</translation>
        </message>
        <message>
            <source>Look at what it offers. Tick what may be called without asking:</source>
            <translation>제공하는 도구를 살펴보세요. 묻지 않고 호출해도 되는 것을 선택하세요:</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>이름</translation>
        </message>
        <message>
            <source>None, if it asks for none</source>
            <translation>요구하지 않으면 비워 두세요</translation>
        </message>
        <message>
            <source>One NAME=value per line</source>
            <translation>한 줄에 NAME=value 하나</translation>
        </message>
        <message>
            <source>Or address</source>
            <translation>또는 주소</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>저장</translation>
        </message>
        <message>
            <source>Unchanged</source>
            <translation>변경 없음</translation>
        </message>
        <message>
            <source>Variables</source>
            <translation>변수</translation>
        </message>
    </context>
    <context>
        <name>ToolsChip</name>
        <message>
            <source>Answers in this chat may call: {}</source>
            <translation>이 채팅의 답변이 호출할 수 있는 도구: {}</translation>
        </message>
        <message>
            <source>Let answers call: {}</source>
            <translation>답변이 호출하도록 허용: {}</translation>
        </message>
        <message>
            <source>Tools: off</source>
            <translation>도구: 끔</translation>
        </message>
        <message>
            <source>Tools: {}</source>
            <translation>도구: {}</translation>
        </message>
    </context>
    <context>
        <name>ToolsPage</name>
        <message>
            <source>Add a tool server…</source>
            <translation>도구 서버 추가…</translation>
        </message>
        <message>
            <source>Another server has this name.</source>
            <translation>다른 서버가 이 이름을 쓰고 있습니다.</translation>
        </message>
        <message>
            <source>Answers may call the program's own tools</source>
            <translation>답변이 프로그램의 자체 도구를 호출할 수 있음</translation>
        </message>
        <message>
            <source>Calculates the value of an expression, such as (2 + 3) * sqrt(7).</source>
            <translation>(2 + 3) * sqrt(7) 같은 식의 값을 계산합니다.</translation>
        </message>
        <message>
            <source>Calls for one question, at most</source>
            <translation>질문 하나당 최대 호출 수</translation>
        </message>
        <message>
            <source>Change the tool server</source>
            <translation>도구 서버 변경</translation>
        </message>
        <message>
            <source>Change…</source>
            <translation>변경…</translation>
        </message>
        <message>
            <source>Remove</source>
            <translation>제거</translation>
        </message>
        <message>
            <source>Remove the tool server</source>
            <translation>도구 서버 제거</translation>
        </message>
        <message>
            <source>Searches your chats for messages that contain all of some words.</source>
            <translation>주어진 단어가 모두 들어 있는 메시지를 내 대화에서 검색합니다.</translation>
        </message>
        <message>
            <source>Tells the date, the weekday and the time.</source>
            <translation>날짜와 요일, 시각을 알려 줍니다.</translation>
        </message>
        <message>
            <source>This system has no keyring: the key is kept in memory until the program ends.</source>
            <translation>이 시스템에는 키링이 없습니다. 키는 프로그램이 끝날 때까지 메모리에 보관됩니다.</translation>
        </message>
        <message>
            <source>Tool servers</source>
            <translation>도구 서버</translation>
        </message>
        <message>
            <source>Tool servers (MCP)</source>
            <translation>도구 서버 (MCP)</translation>
        </message>
        <message>
            <source>With tools, an answer can calculate, look something up or act. Each call is shown with its arguments, and you are asked before it is made, unless the tool is ticked. What a tool answers is not checked: it may be wrong or try to mislead.</source>
            <translation>도구가 있으면 답변이 계산하거나, 찾아보거나, 무언가를 할 수 있습니다. 호출은 모두 인수와 함께 표시되며, 도구를 선택해 두지 않았다면 호출하기 전에 묻습니다. 도구의 대답은 검증되지 않으므로 틀리거나 속이려 할 수 있습니다.</translation>
        </message>
        <message>
            <source>off</source>
            <translation>꺼짐</translation>
        </message>
        <message>
            <source>on</source>
            <translation>켜짐</translation>
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
            <source>Answer complete</source>
            <translation>답변 완료</translation>
        </message>
        <message>
            <source>Quit</source>
            <translation>끝내기</translation>
        </message>
        <message>
            <source>Show window</source>
            <translation>창 표시</translation>
        </message>
    </context>
    <context>
        <name>TreeLegend</name>
        <message>
            <source>Each node of the tree is a token that a drafter has proposed. One pass of the target verifies all nodes: it accepts one path, rejects the others and adds a bonus token of its own.</source>
            <translation>트리의 각 노드는 드래프터가 제안한 토큰입니다. 타깃은 한 번의 패스로 모든 노드를 검증합니다. 경로 하나를 채택하고 나머지를 거부하며, 자신의 보너스 토큰을 더합니다.</translation>
        </message>
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
            <source>drafted during the pass before</source>
            <translation>앞 패스 동안 초안 작성</translation>
        </message>
        <message>
            <source>rejected</source>
            <translation>거부됨</translation>
        </message>
    </context>
    <context>
        <name>TreePage</name>
        <message>
            <source>Added to the answer: “{}”</source>
            <translation>답변에 더해짐: “{}”</translation>
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
            <source>Point at a token or select one with the arrow keys.</source>
            <translation>토큰을 가리키거나 화살표 키로 선택하세요.</translation>
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
        <name>UpdateBox</name>
        <message>
            <source>Cancel</source>
            <translation>취소</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>Looking for an update of {}…</source>
            <translation>{}의 업데이트를 찾는 중…</translation>
        </message>
        <message>
            <source>Not now</source>
            <translation>나중에</translation>
        </message>
        <message>
            <source>There is an update of {}.</source>
            <translation>{}의 업데이트가 있습니다.</translation>
        </message>
        <message>
            <source>Update</source>
            <translation>업데이트</translation>
        </message>
        <message>
            <source>{} is up to date.</source>
            <translation>{} 모델은 최신 상태입니다.</translation>
        </message>
        <message>
            <source>{} to download. The new files replace the old ones once all are complete and verified.</source>
            <translation>{}을(를) 다운로드합니다. 새 파일은 모두 완전하고 검증된 뒤에 이전 파일을 대체합니다.</translation>
        </message>
    </context>
    <context>
        <name>UpdateNews</name>
        <message>
            <source>Close</source>
            <translation>닫기</translation>
        </message>
        <message>
            <source>It opens the next time you start the program.</source>
            <translation>다음에 프로그램을 시작할 때 열립니다.</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>중지</translation>
        </message>
        <message>
            <source>The version before it was started again. Your chats and settings are unchanged.</source>
            <translation>이전 버전을 다시 시작했습니다. 대화와 설정은 그대로입니다.</translation>
        </message>
        <message>
            <source>There is no newer version.</source>
            <translation>더 새로운 버전이 없습니다.</translation>
        </message>
        <message>
            <source>This copy was installed for all users, or where the program cannot change it. Update it as you installed it, for example with your system's package manager.</source>
            <translation>이 프로그램은 모든 사용자용으로 설치되었거나 프로그램이 변경할 수 없는 위치에 있습니다. 시스템의 패키지 관리자 등 설치한 방법으로 업데이트하세요.</translation>
        </message>
        <message>
            <source>Try again</source>
            <translation>다시 시도</translation>
        </message>
        <message>
            <source>Update</source>
            <translation>업데이트</translation>
        </message>
        <message>
            <source>Version {} did not open its window.</source>
            <translation>버전 {}의 창이 열리지 않았습니다.</translation>
        </message>
        <message>
            <source>Version {} is available.</source>
            <translation>버전 {}을(를) 사용할 수 있습니다.</translation>
        </message>
        <message>
            <source>Version {} is being downloaded.</source>
            <translation>버전 {}을(를) 다운로드하고 있습니다.</translation>
        </message>
        <message>
            <source>Version {} is ready.</source>
            <translation>버전 {}이(가) 준비되었습니다.</translation>
        </message>
        <message>
            <source>What is new</source>
            <translation>새로운 내용</translation>
        </message>
        <message>
            <source>{0} of {1}. You can close this box and go on.</source>
            <translation>{1} 중 {0}. 이 창을 닫고 계속할 수 있습니다.</translation>
        </message>
        <message>
            <source>{} are downloaded while you chat. The new version opens the next time you start the program. If it does not, the version you have now opens again.</source>
            <translation>대화하는 동안 {}을(를) 다운로드합니다. 다음에 프로그램을 시작하면 새 버전이 열립니다. 열리지 않으면 지금 버전이 다시 열립니다.</translation>
        </message>
    </context>
    <context>
        <name>UpdateNotice</name>
        <message>
            <source>A newer version of this program. Click to read about it.</source>
            <translation>이 프로그램의 새 버전입니다. 클릭하면 자세한 내용을 볼 수 있습니다.</translation>
        </message>
        <message>
            <source>Newer version: {}</source>
            <translation>새 버전: {}</translation>
        </message>
        <message>
            <source>Version {0}: {1}</source>
            <translation>버전 {0}: {1}</translation>
        </message>
        <message>
            <source>Version {}</source>
            <translation>버전 {}</translation>
        </message>
        <message>
            <source>Version {} failed</source>
            <translation>버전 {} 실패</translation>
        </message>
        <message>
            <source>Version {} is ready</source>
            <translation>버전 {} 준비됨</translation>
        </message>
    </context>
    <context>
        <name>UsedHere</name>
        <message>
            <source>Load</source>
            <translation>불러오기</translation>
        </message>
        <message>
            <source>Load {}</source>
            <translation>{} 불러오기</translation>
        </message>
        <message>
            <source>This chat was answered by {}.</source>
            <translation>이 대화의 답변은 {} 모델이 작성했습니다.</translation>
        </message>
    </context>
    <context>
        <name>VersionSwitch</name>
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
        <name>WaitingList</name>
        <message>
            <source>Next in “{}”: {}</source>
            <translation>“{}”의 다음 질문: {}</translation>
        </message>
        <message>
            <source>Next: {}</source>
            <translation>다음: {}</translation>
        </message>
        <message>
            <source>Queued questions</source>
            <translation>대기열의 질문</translation>
        </message>
        <message>
            <source>Take back into the input field</source>
            <translation>입력란으로 다시 가져오기</translation>
        </message>
    </context>
    <context>
        <name>WherePage</name>
        <message>
            <source>Change folder…</source>
            <translation>폴더 변경…</translation>
        </message>
        <message>
            <source>Contacting Hugging Face…</source>
            <translation>Hugging Face에 연결하는 중…</translation>
        </message>
        <message>
            <source>Download</source>
            <translation>다운로드</translation>
        </message>
        <message>
            <source>Folder</source>
            <translation>폴더</translation>
        </message>
        <message>
            <source>Load now</source>
            <translation>지금 불러오기</translation>
        </message>
        <message>
            <source>Move models</source>
            <translation>모델 옮기기</translation>
        </message>
        <message>
            <source>Not enough disk space: {} needed, {} free. Free up some space and return to this page, choose a folder on another disk, or choose a smaller model.</source>
            <translation>디스크 공간이 부족합니다. {} 필요, {} 남음. 공간을 확보하고 이 페이지로 돌아오거나, 다른 디스크의 폴더나 더 작은 모델을 고르세요.</translation>
        </message>
        <message>
            <source>This disk may be slow. Models run best from an SSD inside this machine.</source>
            <translation>이 디스크는 느릴 수 있습니다. 모델은 이 컴퓨터 안의 SSD에서 가장 잘 실행됩니다.</translation>
        </message>
        <message>
            <source>To be downloaded</source>
            <translation>다운로드할 항목</translation>
        </message>
        <message>
            <source>Where to store the model</source>
            <translation>모델을 저장할 위치</translation>
        </message>
        <message>
            <source>Your existing models ({}) will be moved to {}.</source>
            <translation>기존 모델({})을 {}(으)로 옮깁니다.</translation>
        </message>
        <message>
            <source>{} needed, {} free.</source>
            <translation>{} 필요, {} 남음.</translation>
        </message>
        <message>
            <source>{} · asking Hugging Face for its size…</source>
            <translation>{} · Hugging Face에 크기를 묻는 중…</translation>
        </message>
    </context>
    <context>
        <name>Window</name>
        <message>
            <source>Copied the last answer</source>
            <translation>마지막 답변을 복사했습니다</translation>
        </message>
        <message>
            <source>Deleted 1 message</source>
            <translation>메시지 1개를 삭제했습니다</translation>
        </message>
        <message>
            <source>Deleted {} messages</source>
            <translation>메시지 {}개를 삭제했습니다</translation>
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
        <name>_CodeBar</name>
        <message>
            <source>Scroll the code sideways</source>
            <translation>코드를 옆으로 스크롤</translation>
        </message>
    </context>
    <context>
        <name>_Table</name>
        <message>
            <source>Model catalogue</source>
            <translation>모델 카탈로그</translation>
        </message>
    </context>
    <context>
        <name>catalog</name>
        <message>
            <source>A very small chat model built like Llama 2; mainly useful as its draft.</source>
            <translation>Llama 2와 같은 구조의 아주 작은 대화 모델. 주로 Llama 2의 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Ai2's large model of 2025 whose data and training are public, too; English.</source>
            <translation>데이터와 학습 과정까지 공개된 Ai2의 2025년 대형 모델: 영어.</translation>
        </message>
        <message>
            <source>Ai2's large model of early 2025 whose data and training are public; English, short texts.</source>
            <translation>데이터와 학습 과정이 공개된 Ai2의 2025년 초 대형 모델: 영어, 짧은 글.</translation>
        </message>
        <message>
            <source>Ai2's model of medium size of late 2024 whose data and training are public; English.</source>
            <translation>데이터와 학습 과정이 공개된 Ai2의 2024년 말 중간 크기 모델: 영어.</translation>
        </message>
        <message>
            <source>Ai2's model of moderate size of 2025 whose data and training are public, too; English.</source>
            <translation>데이터와 학습 과정까지 공개된 Ai2의 2025년 적당한 크기의 모델: 영어.</translation>
        </message>
        <message>
            <source>Ai2's model of moderate size of late 2024 whose data and training are public; English.</source>
            <translation>데이터와 학습 과정이 공개된 Ai2의 2024년 말 적당한 크기의 모델: 영어.</translation>
        </message>
        <message>
            <source>Ai2's very small model of early 2025; mainly useful as a draft.</source>
            <translation>Ai2의 2025년 초 아주 작은 모델. 주로 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of medium size, in more than 29 languages.</source>
            <translation>Alibaba의 중간 크기 다목적 모델, 29개가 넘는 언어.</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of moderate size of early 2026 that can think.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 초 중간 크기 범용 모델.</translation>
        </message>
        <message>
            <source>Alibaba's all-round model of moderate size, in more than 29 languages.</source>
            <translation>Alibaba의 적당한 크기의 다목적 모델, 29개가 넘는 언어.</translation>
        </message>
        <message>
            <source>Alibaba's all-round model: knowledge, mathematics and code, in more than 29 languages.</source>
            <translation>Alibaba의 다목적 모델: 지식, 수학, 코드, 29개가 넘는 언어.</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of 2026 that can think; long texts take little memory.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 초 대형 범용 모델: 긴 글도 메모리를 적게 씁니다.</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of spring 2026 that can think; also drafts for itself.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 봄 대형 범용 모델: 역시 스스로 초안을 만듭니다.</translation>
        </message>
        <message>
            <source>Alibaba's large all-round model of summer 2026 that can think; drafts for itself.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 여름 대형 범용 모델: 스스로 초안을 만듭니다.</translation>
        </message>
        <message>
            <source>Alibaba's large model for programming: writes, explains and repairs code.</source>
            <translation>Alibaba의 큰 프로그래밍 모델: 코드를 쓰고, 설명하고, 고칩니다.</translation>
        </message>
        <message>
            <source>Alibaba's large model that can think before it answers: mathematics, code, reasoning.</source>
            <translation>답하기 전에 생각할 수 있는 Alibaba의 큰 모델: 수학, 코드, 추론.</translation>
        </message>
        <message>
            <source>Alibaba's large model: knowledge, mathematics and code, in more than 29 languages.</source>
            <translation>Alibaba의 큰 모델: 지식, 수학, 코드, 29개가 넘는 언어.</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts of 2026 that can think; each token uses a tenth of it.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 초 전문가 혼합 모델: 토큰마다 10분의 1이 일합니다.</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts of spring 2026 that can think; each token uses a tenth of it.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 봄 전문가 혼합 모델: 토큰마다 10분의 1이 일합니다.</translation>
        </message>
        <message>
            <source>Alibaba's mixture of experts that can think; each token uses a tenth of it.</source>
            <translation>생각할 수 있는 알리바바의 전문가 혼합 모델. 토큰마다 10분의 1만 작동합니다.</translation>
        </message>
        <message>
            <source>Alibaba's model of medium size that can think before it answers.</source>
            <translation>답하기 전에 생각할 수 있는 Alibaba의 중간 크기 모델.</translation>
        </message>
        <message>
            <source>Alibaba's model of moderate size for programming: writes, explains and repairs code.</source>
            <translation>Alibaba의 적당한 크기의 프로그래밍 모델: 코드를 쓰고, 설명하고, 고칩니다.</translation>
        </message>
        <message>
            <source>Alibaba's small model for programming: short functions and explanations.</source>
            <translation>Alibaba의 작은 프로그래밍 모델: 짧은 함수와 설명.</translation>
        </message>
        <message>
            <source>Alibaba's small model for simple questions and short texts.</source>
            <translation>간단한 질문과 짧은 글에 알맞은 Alibaba의 작은 모델.</translation>
        </message>
        <message>
            <source>Alibaba's small model of 2026 that can think, for computers without a graphics card.</source>
            <translation>사고할 수 있는 Alibaba의 2026년 초 소형 모델: 그래픽 카드가 없는 컴퓨터용.</translation>
        </message>
        <message>
            <source>Alibaba's small model that can think before it answers simple questions.</source>
            <translation>간단한 질문에 답하기 전에 생각할 수 있는 Alibaba의 작은 모델.</translation>
        </message>
        <message>
            <source>Alibaba's sparse mixture of experts of 2025: 3 of 80 billion parameters per token.</source>
            <translation>Alibaba의 2025년 희소 전문가 혼합 모델: 토큰마다 매개변수 800억 개 중 30억 개가 작동합니다.</translation>
        </message>
        <message>
            <source>Alibaba's very small model for programming; mainly useful as a draft.</source>
            <translation>Alibaba의 아주 작은 프로그래밍 모델. 주로 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Alibaba's very small model of early 2026; useful as the draft of its larger relatives.</source>
            <translation>Alibaba의 2026년 초 초소형 모델: 큰 모델의 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Alibaba's very small model; mainly useful as a draft.</source>
            <translation>Alibaba의 아주 작은 모델. 주로 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>ByteDance's large model of 2025 whose thinking has a budget; very long texts.</source>
            <translation>사고에 예산을 정할 수 있는 ByteDance의 2025년 대형 모델: 매우 긴 글.</translation>
        </message>
        <message>
            <source>DeepSeek's distill of R1 of medium size: thinks long; mathematics, programming.</source>
            <translation>R1을 증류한 DeepSeek의 중간 크기 모델: 오래 생각합니다. 수학, 프로그래밍.</translation>
        </message>
        <message>
            <source>DeepSeek's distill of R1 of moderate size: thinks long; mathematics, programming.</source>
            <translation>R1을 증류한 DeepSeek의 적당한 크기 모델: 오래 생각합니다. 수학, 프로그래밍.</translation>
        </message>
        <message>
            <source>DeepSeek's large distill of R1: thinks long before it answers; mathematics, programming.</source>
            <translation>R1을 증류한 DeepSeek의 큰 모델: 답하기 전에 오래 생각합니다. 수학, 프로그래밍.</translation>
        </message>
        <message>
            <source>DeepSeek's largest distill of R1: thinks long; mathematics, programming, reasoning.</source>
            <translation>R1을 증류한 DeepSeek의 가장 큰 모델: 오래 생각합니다. 수학, 프로그래밍, 추론.</translation>
        </message>
        <message>
            <source>DeepSeek's very small distill of R1, which thinks, too: programming; a draft for others.</source>
            <translation>R1을 증류한 DeepSeek의 아주 작은 모델: 역시 생각합니다. 프로그래밍. 다른 모델의 드래프트로 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Google's Gemma 4 model for one graphics card: knowledge, writing, many languages.</source>
            <translation>그래픽 카드 한 장에 알맞은 Google의 Gemma 4 모델: 지식, 글쓰기, 여러 언어.</translation>
        </message>
        <message>
            <source>Google's Gemma 4 model for small computers and phones, in many languages.</source>
            <translation>작은 컴퓨터와 휴대전화를 위한 Google의 Gemma 4 모델, 여러 언어.</translation>
        </message>
        <message>
            <source>Google's large Gemma 3 model: knowledge and writing, in more than 140 languages.</source>
            <translation>Google의 큰 Gemma 3 모델: 지식과 글쓰기, 140개가 넘는 언어.</translation>
        </message>
        <message>
            <source>Google's large Gemma 4 model of 2026: knowledge, writing, reasoning, in many languages.</source>
            <translation>Google의 2026년 대형 Gemma 4 모델: 지식, 글쓰기, 추론, 여러 언어.</translation>
        </message>
        <message>
            <source>Google's small Gemma 3 model for short texts in English.</source>
            <translation>짧은 영어 글에 알맞은 Google의 작은 Gemma 3 모델.</translation>
        </message>
        <message>
            <source>Google's smallest Gemma 4 model: quick answers on small computers, in many languages.</source>
            <translation>Google의 가장 작은 Gemma 4 모델: 작은 컴퓨터에서 빠른 답변, 여러 언어.</translation>
        </message>
        <message>
            <source>Hugging Face's small model for simple questions and rewriting, in English.</source>
            <translation>간단한 질문과 고쳐 쓰기에 알맞은 Hugging Face의 작은 영어 모델.</translation>
        </message>
        <message>
            <source>Hugging Face's small model of 2025 that can think, in six languages.</source>
            <translation>사고할 수 있는 Hugging Face의 2025년 소형 모델: 여섯 개 언어.</translation>
        </message>
        <message>
            <source>Hugging Face's very small model for short texts in English; often wrong.</source>
            <translation>짧은 영어 글에 알맞은 Hugging Face의 아주 작은 모델. 자주 틀립니다.</translation>
        </message>
        <message>
            <source>IBM's model of moderate size of early 2025 that thinks if asked to: tools, long texts.</source>
            <translation>요청하면 생각하는 IBM의 2025년 초 적당한 크기의 모델: 도구, 긴 글.</translation>
        </message>
        <message>
            <source>IBM's small dense model of 2025, for computers without a graphics card; tools.</source>
            <translation>그래픽 카드가 없는 컴퓨터를 위한 IBM의 2025년 소형 밀집 모델: 도구를 사용합니다.</translation>
        </message>
        <message>
            <source>IBM's small mixture of experts of 2025, quick without a graphics card; long texts.</source>
            <translation>IBM의 2025년 소형 전문가 혼합 모델: 그래픽 카드 없이도 빠르며, 긴 글에 적합합니다.</translation>
        </message>
        <message>
            <source>IBM's small model of early 2025 that thinks if asked to; also a draft for the 8B.</source>
            <translation>요청하면 생각하는 IBM의 2025년 초 소형 모델: 8B의 드래프트로도 쓸모 있습니다.</translation>
        </message>
        <message>
            <source>Liquid AI's mixture of experts of late 2025 for laptops; a fifth works per token.</source>
            <translation>Liquid AI의 2025년 말 노트북용 전문가 혼합 모델: 토큰마다 5분의 1이 일합니다.</translation>
        </message>
        <message>
            <source>Liquid AI's small model of late 2025, quick without a graphics card; eight languages.</source>
            <translation>Liquid AI의 2025년 말 소형 모델: 그래픽 카드 없이도 빠르며, 8개 언어를 지원합니다.</translation>
        </message>
        <message>
            <source>Meta's all-round model of moderate size, in eight languages.</source>
            <translation>Meta의 적당한 크기의 다목적 모델, 8개 언어.</translation>
        </message>
        <message>
            <source>Meta's large chat model of 2023, for English.</source>
            <translation>2023년에 나온 Meta의 큰 영어 대화 모델.</translation>
        </message>
        <message>
            <source>Meta's large model of late 2024: knowledge and reasoning, in eight languages.</source>
            <translation>2024년 말에 나온 Meta의 큰 모델: 지식과 추론, 8개 언어.</translation>
        </message>
        <message>
            <source>Meta's large model of mid-2024: knowledge and reasoning, in eight languages.</source>
            <translation>2024년 중반에 나온 Meta의 큰 모델: 지식과 추론, 8개 언어.</translation>
        </message>
        <message>
            <source>Meta's small chat model of 2023, for English.</source>
            <translation>2023년에 나온 Meta의 작은 영어 대화 모델.</translation>
        </message>
        <message>
            <source>Meta's very small model for summaries and rewriting, in eight languages.</source>
            <translation>요약과 고쳐 쓰기에 알맞은 Meta의 아주 작은 모델, 8개 언어.</translation>
        </message>
        <message>
            <source>Microsoft's model of medium size of late 2024: mathematics and reasoning, in English.</source>
            <translation>Microsoft의 2024년 말 중간 크기 모델: 수학과 추론, 주로 영어.</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of early 2025: quick answers, in many languages.</source>
            <translation>Mistral AI의 2025년 초 범용 모델: 빠른 답변, 여러 언어.</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of moderate size, of 2024.</source>
            <translation>2024년에 나온 Mistral AI의 적당한 크기의 다목적 모델.</translation>
        </message>
        <message>
            <source>Mistral AI's all-round model of moderate size, of late 2023.</source>
            <translation>2023년 말에 나온 Mistral AI의 적당한 크기의 다목적 모델.</translation>
        </message>
        <message>
            <source>Mistral AI's dense model of late 2025 for programming with tools, on one card.</source>
            <translation>카드 한 장에서 도구를 쓰는 프로그래밍을 위한 Mistral AI의 2025년 말 밀집 모델.</translation>
        </message>
        <message>
            <source>Mistral AI's large dense model of 2026 that can think: code, tools, long texts.</source>
            <translation>사고할 수 있는 Mistral AI의 2026년 대형 밀집 모델: 코드, 도구, 긴 글.</translation>
        </message>
        <message>
            <source>Mistral AI's large dense model of late 2025 for programming with tools.</source>
            <translation>도구를 쓰는 프로그래밍을 위한 Mistral AI의 2025년 말 대형 밀집 모델.</translation>
        </message>
        <message>
            <source>Mistral AI's large model of 2024: reasoning and code, in dozens of languages.</source>
            <translation>2024년에 나온 Mistral AI의 큰 모델: 추론과 코드, 수십 개 언어.</translation>
        </message>
        <message>
            <source>Mistral AI's mixture of experts: general questions and code, in five languages.</source>
            <translation>Mistral AI의 전문가 혼합 모델: 일반 질문과 코드, 5개 언어.</translation>
        </message>
        <message>
            <source>Mistral AI's model of medium size of late 2025: quick answers, in many languages.</source>
            <translation>Mistral AI의 2025년 말 중간 크기 모델: 빠른 답변, 많은 언어.</translation>
        </message>
        <message>
            <source>Mistral AI's model of moderate size of late 2025: quick answers, many languages.</source>
            <translation>Mistral AI의 2025년 말 적당한 크기 모델: 빠른 답변, 많은 언어.</translation>
        </message>
        <message>
            <source>Mistral AI's small model of late 2025, for computers without a graphics card.</source>
            <translation>그래픽 카드가 없는 컴퓨터를 위한 Mistral AI의 2025년 말 소형 모델.</translation>
        </message>
        <message>
            <source>NVIDIA's hybrid model of mid-2025 that can think: little memory for long texts.</source>
            <translation>사고할 수 있는 NVIDIA의 2025년 중반 하이브리드 모델: 긴 글도 메모리를 적게 씁니다.</translation>
        </message>
        <message>
            <source>NVIDIA's mixture of experts of late 2025 that can think; each token uses a tenth of it.</source>
            <translation>사고할 수 있는 NVIDIA의 2025년 말 전문가 혼합 모델: 토큰마다 10분의 1이 일합니다.</translation>
        </message>
        <message>
            <source>OpenAI's large mixture of experts that thinks; five billion of it work on each token.</source>
            <translation>생각하는 OpenAI의 큰 전문가 혼합 모델. 토큰마다 50억 개의 매개변수가 작동합니다.</translation>
        </message>
        <message>
            <source>OpenAI's mixture of experts that thinks; a sixth of it works on each token.</source>
            <translation>생각하는 OpenAI의 전문가 혼합 모델. 토큰마다 6분의 1만 작동합니다.</translation>
        </message>
        <message>
            <source>The demonstration model: tiny and often wrong, it shows how the program works.</source>
            <translation>시연용 모델: 아주 작고 자주 틀리지만, 프로그램이 어떻게 작동하는지 보여 줍니다.</translation>
        </message>
        <message>
            <source>Zhipu's all-round model of medium size of 2025, for Chinese and English.</source>
            <translation>Zhipu의 2025년 중간 크기 범용 모델: 중국어와 영어.</translation>
        </message>
        <message>
            <source>Zhipu's sparse mixture of experts of 2025 that can think; a ninth works per token.</source>
            <translation>사고할 수 있는 Zhipu의 2025년 희소 전문가 혼합 모델: 토큰마다 9분의 1이 일합니다.</translation>
        </message>
    </context>
    <context>
        <name>chat_import</name>
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
            <source>These chats could not be read:</source>
            <translation>다음 대화는 읽을 수 없었습니다:</translation>
        </message>
        <message>
            <source>{} already here</source>
            <translation>이미 있는 대화 {}개</translation>
        </message>
        <message>
            <source>{} could not be read</source>
            <translation>{}개를 읽을 수 없었음</translation>
        </message>
    </context>
    <context>
        <name>chat_options</name>
        <message>
            <source>A repetition ends at tokens that contain one of these texts. One per line; \n stands for a line break.</source>
            <translation>이 텍스트 중 하나가 들어 있는 토큰에서 되풀이가 끝난 것으로 봅니다. 한 줄에 하나씩 적으며, \n은 줄바꿈을 뜻합니다.</translation>
        </message>
        <message>
            <source>Added to the logits of single tokens. One per line: token id, colon, value from -1000 to 1000.</source>
            <translation>개별 토큰의 로짓에 더합니다. 한 줄에 하나: 토큰 ID, 콜론, -1000에서 1000까지의 값.</translation>
        </message>
        <message>
            <source>Answer</source>
            <translation>답변</translation>
        </message>
        <message>
            <source>Ask for the probability of each token, and of this many alternatives. “Colour the answer”, beside the chat, shows them.</source>
            <translation>각 토큰의 확률과, 이 개수만큼의 다른 후보의 확률을 요청합니다. 대화 옆의 “답변에 색 입히기”에서 볼 수 있습니다.</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>자동</translation>
        </message>
        <message>
            <source>Beams</source>
            <translation>빔</translation>
        </message>
        <message>
            <source>Best available</source>
            <translation>사용할 수 있는 가장 좋은 것</translation>
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
            <source>DRY allowed length</source>
            <translation>DRY 허용 길이</translation>
        </message>
        <message>
            <source>DRY base</source>
            <translation>DRY 밑</translation>
        </message>
        <message>
            <source>DRY penalty</source>
            <translation>DRY 페널티</translation>
        </message>
        <message>
            <source>DRY range</source>
            <translation>DRY 범위</translation>
        </message>
        <message>
            <source>DRY sequence breakers</source>
            <translation>DRY 구분 텍스트</translation>
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
            <source>Exclude tokens whose probability is below this fraction of the most likely token's.</source>
            <translation>확률이 가장 높은 토큰의 확률에 이 비율을 곱한 값보다 확률이 낮은 토큰을 제외합니다.</translation>
        </message>
        <message>
            <source>Frequency penalty</source>
            <translation>빈도 페널티</translation>
        </message>
        <message>
            <source>Higher values make answers more varied. 0 always picks the most likely token.</source>
            <translation>값이 클수록 답변이 다양해집니다. 0이면 항상 확률이 가장 높은 토큰을 고릅니다.</translation>
        </message>
        <message>
            <source>How far back DRY looks for repetitions.</source>
            <translation>DRY가 되풀이를 찾을 때 거슬러 올라가는 범위.</translation>
        </message>
        <message>
            <source>How fast the DRY penalty grows with the length of the repetition.</source>
            <translation>되풀이가 길어질 때 DRY 페널티가 얼마나 빨리 커지는지 정합니다.</translation>
        </message>
        <message>
            <source>How often the most likely tokens are excluded, so that answers are less predictable. No effect at temperature 0.</source>
            <translation>가장 가능성이 높은 토큰을 얼마나 자주 제외할지 정합니다. 답변이 덜 뻔해집니다. 온도가 0이면 효과가 없습니다.</translation>
        </message>
        <message>
            <source>Included with the program</source>
            <translation>프로그램에 포함된 것</translation>
        </message>
        <message>
            <source>Instructions that the model receives before the chat: its role and how it should answer.</source>
            <translation>모델이 대화에 앞서 받는 지시: 모델의 역할과 답하는 방식.</translation>
        </message>
        <message>
            <source>Let answers call the tools that are turned on in the settings.</source>
            <translation>설정에서 켠 도구를 답변이 호출하도록 합니다.</translation>
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
            <source>Makes tokens that would continue a repetition less likely, the more so the longer the repetition is. 0.8 is usual.</source>
            <translation>되풀이를 이어 가는 토큰의 가능성을 낮춥니다. 되풀이가 길수록 더 낮아집니다. 보통 0.8을 씁니다.</translation>
        </message>
        <message>
            <source>Maximum answer length</source>
            <translation>답변의 최대 길이</translation>
        </message>
        <message>
            <source>Maximum depth of a token tree.</source>
            <translation>토큰 트리의 최대 깊이.</translation>
        </message>
        <message>
            <source>Maximum number of nodes in a token tree. Automatic: the fastest size, found while answering.</source>
            <translation>토큰 트리의 최대 노드 수. 자동: 답변하면서 찾은 가장 빠른 크기.</translation>
        </message>
        <message>
            <source>Maximum number of tokens in an answer.</source>
            <translation>답변의 최대 토큰 수.</translation>
        </message>
        <message>
            <source>Maximum number of tokens in prompt and answer together. A larger context needs more memory.</source>
            <translation>프롬프트와 답변을 합한 최대 토큰 수. 컨텍스트가 클수록 메모리가 더 필요합니다.</translation>
        </message>
        <message>
            <source>Maximum number of tokens that the model may think before it answers.</source>
            <translation>모델이 답하기 전에 생각할 수 있는 최대 토큰 수입니다.</translation>
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
            <source>No limit</source>
            <translation>한도 없음</translation>
        </message>
        <message>
            <source>None</source>
            <translation>없음</translation>
        </message>
        <message>
            <source>Number of nodes that the draft expands in each round.</source>
            <translation>라운드마다 드래프트가 확장하는 노드 수.</translation>
        </message>
        <message>
            <source>Off</source>
            <translation>끔</translation>
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
            <source>Sample only from the most likely tokens whose probabilities add up to this value. 1: all tokens.</source>
            <translation>확률이 높은 순서로, 확률의 합이 이 값이 되는 토큰들에서만 샘플링합니다. 1: 모든 토큰.</translation>
        </message>
        <message>
            <source>Sample only from this many of the most likely tokens.</source>
            <translation>확률이 높은 순서로 이 개수의 토큰에서만 샘플링합니다.</translation>
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
            <source>Shortest repetition that DRY counts.</source>
            <translation>DRY가 되풀이로 보는 가장 짧은 길이.</translation>
        </message>
        <message>
            <source>Stop an answer that says the same over and over. It can be continued.</source>
            <translation>같은 말을 끝없이 되풀이하는 답변을 멈춥니다. 이어서 계속할 수 있습니다.</translation>
        </message>
        <message>
            <source>Stop repetition</source>
            <translation>되풀이 멈추기</translation>
        </message>
        <message>
            <source>Stop strings</source>
            <translation>중지 문자열</translation>
        </message>
        <message>
            <source>Subtracted from the logit of a token for each time it already occurs in the answer.</source>
            <translation>답변에 이미 나온 횟수만큼 그 토큰의 로짓에서 뺍니다.</translation>
        </message>
        <message>
            <source>Subtracted once from the logit of every token that already occurs in the answer.</source>
            <translation>답변에 이미 나온 모든 토큰의 로짓에서 한 번 뺍니다.</translation>
        </message>
        <message>
            <source>System prompt</source>
            <translation>시스템 프롬프트</translation>
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
            <source>The answer ends before the first of these texts. One per line; \n stands for a line break.</source>
            <translation>답변은 이 텍스트 중 처음 나오는 것 앞에서 끝납니다. 한 줄에 하나, \n은 줄바꿈을 뜻합니다.</translation>
        </message>
        <message>
            <source>The method that proposes tokens. It affects the speed, not the quality of the answers.</source>
            <translation>토큰을 제안하는 방법. 속도에 영향을 주며 답변의 품질에는 영향을 주지 않습니다.</translation>
        </message>
        <message>
            <source>The model that answers.</source>
            <translation>답변하는 모델.</translation>
        </message>
        <message>
            <source>The same seed and settings give the same text on the processor; on a graphics card, in float32. Empty: a new seed for each answer.</source>
            <translation>프로세서에서는 시드와 설정이 같으면 텍스트도 같습니다. 그래픽 카드에서는 float32일 때 그렇습니다. 비워 두면 답변마다 새 시드를 씁니다.</translation>
        </message>
        <message>
            <source>The small model that guesses ahead. It must have the same vocabulary as the target.</source>
            <translation>앞서 추측하는 작은 모델. 타깃과 어휘가 같아야 합니다.</translation>
        </message>
        <message>
            <source>Thinking</source>
            <translation>생각</translation>
        </message>
        <message>
            <source>Thinking budget</source>
            <translation>생각 예산</translation>
        </message>
        <message>
            <source>Tools</source>
            <translation>도구</translation>
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
            <source>Values above 1 make tokens that already occur in the text less likely.</source>
            <translation>1보다 크면 텍스트에 이미 나온 토큰의 확률이 낮아집니다.</translation>
        </message>
        <message>
            <source>Whether the model thinks before it answers, and how hard, for models that leave the choice.</source>
            <translation>모델이 답하기 전에 생각할지, 얼마나 깊이 생각할지 정합니다. 선택할 수 있는 모델에만 적용됩니다.</translation>
        </message>
        <message>
            <source>Whole chat</source>
            <translation>대화 전체</translation>
        </message>
        <message>
            <source>XTC excludes tokens with at least this probability, except the least likely one of them.</source>
            <translation>XTC는 확률이 이 값 이상인 토큰을 제외하되, 그중 가장 가능성이 낮은 것은 남깁니다.</translation>
        </message>
        <message>
            <source>XTC probability</source>
            <translation>XTC 확률</translation>
        </message>
        <message>
            <source>XTC threshold</source>
            <translation>XTC 기준값</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>토큰</translation>
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
            <source>Graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>Install PyTorch</source>
            <translation>PyTorch 설치</translation>
        </message>
        <message>
            <source>Install the packages</source>
            <translation>패키지 설치</translation>
        </message>
        <message>
            <source>NVIDIA graphics card (CUDA)</source>
            <translation>NVIDIA 그래픽 카드(CUDA)</translation>
        </message>
        <message>
            <source>None suitable</source>
            <translation>적합한 것 없음</translation>
        </message>
        <message>
            <source>Processor (CPU)</source>
            <translation>프로세서(CPU)</translation>
        </message>
        <message>
            <source>Switch to the new engine</source>
            <translation>새 엔진으로 전환</translation>
        </message>
        <message>
            <source>Test: one matrix product, one token</source>
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
            <source>{} to download, {} on disk</source>
            <translation>다운로드 {}, 디스크 {}</translation>
        </message>
    </context>
    <context>
        <name>faults</name>
        <message>
            <source>A name is not safe.</source>
            <translation>이름이 안전하지 않습니다.</translation>
        </message>
        <message>
            <source>A package is not the expected one, or is not available.</source>
            <translation>패키지가 예상한 것과 다르거나 제공되지 않습니다.</translation>
        </message>
        <message>
            <source>A setting does not fit.</source>
            <translation>설정 값이 맞지 않습니다.</translation>
        </message>
        <message>
            <source>Another download is working on this model's files.</source>
            <translation>다른 다운로드가 이 모델의 파일을 처리하고 있습니다.</translation>
        </message>
        <message>
            <source>Another program has locked the chats.</source>
            <translation>다른 프로그램이 대화를 잠갔습니다.</translation>
        </message>
        <message>
            <source>Another program uses this port already.</source>
            <translation>다른 프로그램이 이미 이 포트를 사용하고 있습니다.</translation>
        </message>
        <message>
            <source>Another window is setting up the engine.</source>
            <translation>다른 창에서 엔진을 설정하고 있습니다.</translation>
        </message>
        <message>
            <source>Draft and target have different vocabularies.</source>
            <translation>드래프트와 타깃의 어휘가 다릅니다.</translation>
        </message>
        <message>
            <source>It does not exist any more.</source>
            <translation>더 이상 존재하지 않습니다.</translation>
        </message>
        <message>
            <source>It was cancelled.</source>
            <translation>취소되었습니다.</translation>
        </message>
        <message>
            <source>Linux runs inside Windows here, with a part of the memory.</source>
            <translation>Windows 안에서 실행되는 Linux(WSL)라서 메모리 일부만 쓸 수 있습니다.</translation>
        </message>
        <message>
            <source>Little memory is free.</source>
            <translation>남은 메모리가 적습니다.</translation>
        </message>
        <message>
            <source>Models run on this machine, not on the one in front of you.</source>
            <translation>모델은 앞에 있는 컴퓨터가 아니라 원격 컴퓨터에서 실행됩니다.</translation>
        </message>
        <message>
            <source>No engine was added under this name.</source>
            <translation>이 이름으로 추가된 엔진이 없습니다.</translation>
        </message>
        <message>
            <source>No model is loaded.</source>
            <translation>로드된 모델이 없습니다.</translation>
        </message>
        <message>
            <source>No newer version could be looked for.</source>
            <translation>새 버전을 확인하지 못했습니다.</translation>
        </message>
        <message>
            <source>No supported graphics card was found.</source>
            <translation>지원되는 그래픽 카드가 없습니다.</translation>
        </message>
        <message>
            <source>Packages that this needs are not installed.</source>
            <translation>필요한 패키지가 설치되어 있지 않습니다.</translation>
        </message>
        <message>
            <source>PyTorch is needed and is not set up.</source>
            <translation>PyTorch가 필요하지만 설정되어 있지 않습니다.</translation>
        </message>
        <message>
            <source>PyTorch is not set up.</source>
            <translation>PyTorch가 설치되지 않았습니다.</translation>
        </message>
        <message>
            <source>Something went wrong.</source>
            <translation>문제가 발생했습니다.</translation>
        </message>
        <message>
            <source>The Hugging Face Hub cannot be reached.</source>
            <translation>Hugging Face Hub에 연결할 수 없습니다.</translation>
        </message>
        <message>
            <source>The answer broke off or cannot be read.</source>
            <translation>답변이 중간에 끊겼거나 읽을 수 없습니다.</translation>
        </message>
        <message>
            <source>The chats cannot be read or written.</source>
            <translation>대화를 읽거나 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The chats cannot be written.</source>
            <translation>대화를 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The chats were written by a newer version.</source>
            <translation>대화가 더 새로운 버전으로 작성되었습니다.</translation>
        </message>
        <message>
            <source>The computer runs on battery, which slows it down.</source>
            <translation>컴퓨터가 배터리로 작동 중이어서 느려집니다.</translation>
        </message>
        <message>
            <source>The conversation is too long for this model.</source>
            <translation>대화가 이 모델에는 너무 깁니다.</translation>
        </message>
        <message>
            <source>The device cannot be used.</source>
            <translation>장치를 사용할 수 없습니다.</translation>
        </message>
        <message>
            <source>The disk is full.</source>
            <translation>디스크가 가득 찼습니다.</translation>
        </message>
        <message>
            <source>The disk or the folder cannot be used.</source>
            <translation>디스크 또는 폴더를 사용할 수 없습니다.</translation>
        </message>
        <message>
            <source>The disk with the model does not answer.</source>
            <translation>모델이 있는 디스크가 응답하지 않습니다.</translation>
        </message>
        <message>
            <source>The disk with the models is nearly full.</source>
            <translation>모델이 있는 디스크가 거의 가득 찼습니다.</translation>
        </message>
        <message>
            <source>The engine has ended or could not be started.</source>
            <translation>엔진이 종료되었거나 시작할 수 없습니다.</translation>
        </message>
        <message>
            <source>The file with the chats is damaged.</source>
            <translation>대화 파일이 손상되었습니다.</translation>
        </message>
        <message>
            <source>The graphics card cannot be used now.</source>
            <translation>지금은 그래픽 카드를 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The graphics card has stopped.</source>
            <translation>그래픽 카드가 멈췄습니다.</translation>
        </message>
        <message>
            <source>The graphics card works more slowly than it could.</source>
            <translation>그래픽 카드가 제 속도를 내지 못합니다.</translation>
        </message>
        <message>
            <source>The graphics card's driver is too old.</source>
            <translation>그래픽 카드 드라이버가 너무 오래되었습니다.</translation>
        </message>
        <message>
            <source>The installed PyTorch cannot use the graphics card.</source>
            <translation>설치된 PyTorch로는 그래픽 카드를 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The installed PyTorch does not support the graphics card.</source>
            <translation>설치된 PyTorch가 이 그래픽 카드를 지원하지 않습니다.</translation>
        </message>
        <message>
            <source>The key would be sent without encryption.</source>
            <translation>키가 암호화되지 않은 채 전송됩니다.</translation>
        </message>
        <message>
            <source>The keyring stays locked.</source>
            <translation>키링이 잠겨 있습니다.</translation>
        </message>
        <message>
            <source>The list of added engines cannot be read or written.</source>
            <translation>추가된 엔진 목록을 읽거나 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The machine could not be measured.</source>
            <translation>이 컴퓨터를 측정하지 못했습니다.</translation>
        </message>
        <message>
            <source>The model asks for an account.</source>
            <translation>이 모델에는 계정이 필요합니다.</translation>
        </message>
        <message>
            <source>The model computes numbers that are not valid.</source>
            <translation>모델이 유효하지 않은 수를 계산합니다.</translation>
        </message>
        <message>
            <source>The model file is damaged or incomplete.</source>
            <translation>모델 파일이 손상되었거나 불완전합니다.</translation>
        </message>
        <message>
            <source>The model is not there.</source>
            <translation>모델이 없습니다.</translation>
        </message>
        <message>
            <source>The model's file changed or became unreadable.</source>
            <translation>모델 파일이 변경되었거나 읽을 수 없게 되었습니다.</translation>
        </message>
        <message>
            <source>The model's licence was not accepted yet.</source>
            <translation>모델의 라이선스에 아직 동의하지 않았습니다.</translation>
        </message>
        <message>
            <source>The models lie on a Windows drive, which WSL reads slowly.</source>
            <translation>모델이 WSL에서 읽기 느린 Windows 드라이브에 있습니다.</translation>
        </message>
        <message>
            <source>The models lie on a hard disk, which reads slowly.</source>
            <translation>모델이 읽기 속도가 느린 하드 디스크에 있습니다.</translation>
        </message>
        <message>
            <source>The models lie on a network share, which reads slowly.</source>
            <translation>모델이 읽기 속도가 느린 네트워크 공유 폴더에 있습니다.</translation>
        </message>
        <message>
            <source>The models lie on a slow disk.</source>
            <translation>모델이 느린 디스크에 있습니다.</translation>
        </message>
        <message>
            <source>The new runtime does not work on this machine.</source>
            <translation>새 런타임이 이 컴퓨터에서 작동하지 않습니다.</translation>
        </message>
        <message>
            <source>The newer version cannot be applied here.</source>
            <translation>새 버전을 여기에 적용할 수 없습니다.</translation>
        </message>
        <message>
            <source>The newer version cannot be trusted.</source>
            <translation>새 버전을 신뢰할 수 없습니다.</translation>
        </message>
        <message>
            <source>The package server cannot be reached.</source>
            <translation>패키지 서버에 연결할 수 없습니다.</translation>
        </message>
        <message>
            <source>The schema or grammar allows no further word here.</source>
            <translation>스키마 또는 문법이 여기서 더 이상의 단어를 허용하지 않습니다.</translation>
        </message>
        <message>
            <source>The schema or grammar cannot be used.</source>
            <translation>스키마 또는 문법을 사용할 수 없습니다.</translation>
        </message>
        <message>
            <source>The server cannot be reached.</source>
            <translation>서버에 연결할 수 없습니다.</translation>
        </message>
        <message>
            <source>The server has no model now.</source>
            <translation>서버에 지금 모델이 없습니다.</translation>
        </message>
        <message>
            <source>The server has too much to do or is still starting.</source>
            <translation>서버가 너무 바쁘거나 아직 시작 중입니다.</translation>
        </message>
        <message>
            <source>The server refuses the key or asks for one.</source>
            <translation>서버가 키를 거부하거나 요구합니다.</translation>
        </message>
        <message>
            <source>The server refuses the request.</source>
            <translation>서버가 요청을 거부합니다.</translation>
        </message>
        <message>
            <source>The server's certificate is not trusted.</source>
            <translation>서버의 인증서를 신뢰할 수 없습니다.</translation>
        </message>
        <message>
            <source>The settings cannot be read or written.</source>
            <translation>설정을 읽거나 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The system allows this program no more.</source>
            <translation>시스템이 이 프로그램에 더 이상 허용하지 않습니다.</translation>
        </message>
        <message>
            <source>The tool cannot be used.</source>
            <translation>도구를 사용할 수 없습니다.</translation>
        </message>
        <message>
            <source>There is no text to answer.</source>
            <translation>답변할 텍스트가 없습니다.</translation>
        </message>
        <message>
            <source>There is not enough memory.</source>
            <translation>메모리가 부족합니다.</translation>
        </message>
        <message>
            <source>This account has no access to the model.</source>
            <translation>이 계정에는 모델에 대한 접근 권한이 없습니다.</translation>
        </message>
        <message>
            <source>This file cannot be downloaded in this way.</source>
            <translation>이 파일은 이 방식으로 내려받을 수 없습니다.</translation>
        </message>
        <message>
            <source>This file has nothing that can be imported.</source>
            <translation>이 파일에는 가져올 수 있는 내용이 없습니다.</translation>
        </message>
        <message>
            <source>This is not a recorded race, or it is damaged.</source>
            <translation>기록된 경주가 아니거나 손상되었습니다.</translation>
        </message>
        <message>
            <source>This is not a recorded run, or it is damaged.</source>
            <translation>기록된 실행이 아니거나 손상되었습니다.</translation>
        </message>
        <message>
            <source>This is not a runtime file that fits here.</source>
            <translation>여기에 맞는 런타임 파일이 아닙니다.</translation>
        </message>
        <message>
            <source>This kind of model cannot be run here.</source>
            <translation>이 종류의 모델은 여기서 실행할 수 없습니다.</translation>
        </message>
        <message>
            <source>This program may use only a part of the memory.</source>
            <translation>이 프로그램은 메모리 일부만 쓸 수 있습니다.</translation>
        </message>
        <message>
            <source>This program may use only some of the processor's cores.</source>
            <translation>이 프로그램은 프로세서 코어 일부만 쓸 수 있습니다.</translation>
        </message>
        <message>
            <source>This server is not one that this program can talk to.</source>
            <translation>이 프로그램이 통신할 수 있는 서버가 아닙니다.</translation>
        </message>
        <message>
            <source>This server lacks an option that would change the text.</source>
            <translation>이 서버에는 텍스트를 바꿀 옵션이 없습니다.</translation>
        </message>
        <message>
            <source>What was downloaded is not the file that was listed.</source>
            <translation>내려받은 내용이 목록의 파일과 다릅니다.</translation>
        </message>
        <message>
            <source>Windows lets the graphics card use only a part of the memory directly.</source>
            <translation>Windows에서는 그래픽 카드가 메모리 일부만 직접 쓸 수 있습니다.</translation>
        </message>
    </context>
    <context>
        <name>files</name>
        <message>
            <source>1 page</source>
            <translation>1쪽</translation>
        </message>
        <message>
            <source>1 section</source>
            <translation>섹션 1개</translation>
        </message>
        <message>
            <source>1 sheet</source>
            <translation>시트 1개</translation>
        </message>
        <message>
            <source>about {} tokens</source>
            <translation>약 {}토큰</translation>
        </message>
        <message>
            <source>picture, not seen by the model</source>
            <translation>그림, 모델은 보지 못함</translation>
        </message>
        <message>
            <source>searched for each question</source>
            <translation>질문마다 검색</translation>
        </message>
        <message>
            <source>{} cannot be opened; check its permissions.</source>
            <translation>{}을(를) 열 수 없습니다. 권한을 확인하세요.</translation>
        </message>
        <message>
            <source>{} cannot be read, because the system starts no more processes.</source>
            <translation>시스템이 프로세스를 더 시작하지 못해 {}을(를) 읽을 수 없습니다.</translation>
        </message>
        <message>
            <source>{} contains macros; save it as a document without them.</source>
            <translation>{}에 매크로가 들어 있습니다. 매크로가 없는 문서로 저장하세요.</translation>
        </message>
        <message>
            <source>{} has more than {} characters; take a part of it.</source>
            <translation>{}은(는) {}자가 넘습니다. 일부만 쓰세요.</translation>
        </message>
        <message>
            <source>{} has more than {} pages; take a part of it.</source>
            <translation>{}은(는) {}쪽이 넘습니다. 일부만 쓰세요.</translation>
        </message>
        <message>
            <source>{} has no text; it may hold pictures of pages.</source>
            <translation>{}에 텍스트가 없습니다. 쪽을 찍은 그림일 수 있습니다.</translation>
        </message>
        <message>
            <source>{} holds weights of a model. To load it, click the model's name at the top of the chat (Ctrl+M), then “Open file…”, and choose config.json in the folder of this file.</source>
            <translation>{}에는 모델의 가중치가 들어 있습니다. 불러오려면 대화 위쪽의 모델 이름(Ctrl+M)을 클릭한 다음 “파일 열기…”를 선택하고 이 파일이 있는 폴더의 config.json을 고르세요.</translation>
        </message>
        <message>
            <source>{} is a folder; drop the files in it.</source>
            <translation>{}은(는) 폴더입니다. 안에 있는 파일을 놓으세요.</translation>
        </message>
        <message>
            <source>{} is a model. To load it, click the model's name at the top of the chat (Ctrl+M), then “Open file…”.</source>
            <translation>{}은(는) 모델입니다. 불러오려면 대화 위쪽의 모델 이름(Ctrl+M)을 클릭한 다음 “파일 열기…”를 선택하세요.</translation>
        </message>
        <message>
            <source>{} is an archive; drop the files in it.</source>
            <translation>{}은(는) 압축 파일입니다. 안에 있는 파일을 놓으세요.</translation>
        </message>
        <message>
            <source>{} is built to fill the memory, so it was not read.</source>
            <translation>{}은(는) 메모리를 가득 채우도록 만들어져 읽지 않았습니다.</translation>
        </message>
        <message>
            <source>{} is damaged.</source>
            <translation>{}이(가) 손상되었습니다.</translation>
        </message>
        <message>
            <source>{} is larger than {}; take a part of it.</source>
            <translation>{}은(는) {}보다 큽니다. 일부만 쓰세요.</translation>
        </message>
        <message>
            <source>{} is neither text in UTF-8 nor a document that can be read.</source>
            <translation>{}은(는) UTF-8 텍스트도, 읽을 수 있는 문서도 아닙니다.</translation>
        </message>
        <message>
            <source>{} is not a file that can be read.</source>
            <translation>{}은(는) 읽을 수 있는 파일이 아닙니다.</translation>
        </message>
        <message>
            <source>{} is not what the end of its name says.</source>
            <translation>{}은(는) 확장자가 나타내는 형식이 아닙니다.</translation>
        </message>
        <message>
            <source>{} is of an old format; save it as DOCX or XLSX.</source>
            <translation>{}은(는) 오래된 형식입니다. DOCX나 XLSX로 저장하세요.</translation>
        </message>
        <message>
            <source>{} is protected by a password; save it without one.</source>
            <translation>{}은(는) 암호로 보호되어 있습니다. 암호 없이 저장하세요.</translation>
        </message>
        <message>
            <source>{} pages</source>
            <translation>{}쪽</translation>
        </message>
        <message>
            <source>{} sections</source>
            <translation>섹션 {}개</translation>
        </message>
        <message>
            <source>{} sheets</source>
            <translation>시트 {}개</translation>
        </message>
        <message>
            <source>{} takes too much time or memory to read; take a part of it.</source>
            <translation>{}을(를) 읽는 데 시간이나 메모리가 너무 많이 듭니다. 일부만 쓰세요.</translation>
        </message>
        <message>
            <source>{}, page {}</source>
            <translation>{}, {}쪽</translation>
        </message>
        <message>
            <source>{}, section {}</source>
            <translation>{}, 섹션 {}</translation>
        </message>
        <message>
            <source>{}, sheet {}</source>
            <translation>{}, 시트 {}</translation>
        </message>
    </context>
    <context>
        <name>kernels</name>
        <message>
            <source>Copying and computing take turns instead, which is slower.</source>
            <translation>대신 복사와 계산을 번갈아 하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>It is computed in float32 instead, which is slower.</source>
            <translation>대신 float32로 계산하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>It is computed step by step instead, which is slower.</source>
            <translation>대신 단계별로 계산하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>Kernels are launched one by one instead, which is slower.</source>
            <translation>대신 커널을 하나씩 실행하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>Matrices are multiplied in float32 instead.</source>
            <translation>대신 float32로 행렬을 곱합니다.</translation>
        </message>
        <message>
            <source>On the graphics card, this ends the program: {}.</source>
            <translation>그래픽 카드에서 프로그램을 종료시킵니다: {}.</translation>
        </message>
        <message>
            <source>Plain PyTorch unpacks them instead, which is several times slower.</source>
            <translation>대신 일반 PyTorch로 풀며, 몇 배 느립니다.</translation>
        </message>
        <message>
            <source>Systems of equations are solved row by row instead, which is slower.</source>
            <translation>대신 연립방정식을 행별로 풀며, 더 느립니다.</translation>
        </message>
        <message>
            <source>The driver copies weights through its own buffer, which is slower.</source>
            <translation>드라이버가 자체 버퍼를 거쳐 가중치를 복사하며, 더 느립니다.</translation>
        </message>
        <message>
            <source>The graphics card gives wrong numbers: {}.</source>
            <translation>그래픽 카드가 잘못된 수를 계산합니다: {}.</translation>
        </message>
        <message>
            <source>The graphics card is slow: {}.</source>
            <translation>그래픽 카드에서 느립니다: {}.</translation>
        </message>
        <message>
            <source>The processor computes it instead.</source>
            <translation>대신 프로세서가 계산합니다.</translation>
        </message>
        <message>
            <source>The processor unpacks them instead, which is much slower.</source>
            <translation>대신 프로세서가 풀며, 훨씬 느립니다.</translation>
        </message>
        <message>
            <source>The weights are unpacked first instead, which is slower for few tokens.</source>
            <translation>대신 가중치를 먼저 풀며, 토큰이 적을 때 더 느립니다.</translation>
        </message>
        <message>
            <source>This does not end on the graphics card: {}.</source>
            <translation>그래픽 카드에서 끝나지 않습니다: {}.</translation>
        </message>
        <message>
            <source>This does not work on the graphics card: {}.</source>
            <translation>그래픽 카드에서 작동하지 않습니다: {}.</translation>
        </message>
        <message>
            <source>This may have stopped the graphics card: {}.</source>
            <translation>그래픽 카드를 멈추게 했을 수 있습니다: {}.</translation>
        </message>
        <message>
            <source>attention</source>
            <translation>어텐션</translation>
        </message>
        <message>
            <source>attention with sinks or capped scores</source>
            <translation>싱크가 있거나 점수를 제한하는 어텐션</translation>
        </message>
        <message>
            <source>copying from pinned memory</source>
            <translation>고정 메모리에서의 복사</translation>
        </message>
        <message>
            <source>copying while computing</source>
            <translation>계산과 동시에 하는 복사</translation>
        </message>
        <message>
            <source>copying within its memory</source>
            <translation>카드 메모리 안에서의 복사</translation>
        </message>
        <message>
            <source>layers with states</source>
            <translation>상태가 있는 레이어</translation>
        </message>
        <message>
            <source>multiplying by packed weights</source>
            <translation>풀지 않은 가중치와의 곱셈</translation>
        </message>
        <message>
            <source>multiplying in float16</source>
            <translation>float16 곱셈</translation>
        </message>
        <message>
            <source>multiplying matrices</source>
            <translation>행렬 곱셈</translation>
        </message>
        <message>
            <source>replaying a CUDA graph</source>
            <translation>CUDA 그래프 재생</translation>
        </message>
        <message>
            <source>the noise for sampling</source>
            <translation>샘플링용 노이즈</translation>
        </message>
        <message>
            <source>unpacking weights</source>
            <translation>가중치 풀기</translation>
        </message>
        <message>
            <source>{} ({})</source>
            <translation>{}({})</translation>
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
            <source>draft KV cache</source>
            <translation>드래프트 KV 캐시</translation>
        </message>
        <message>
            <source>experts</source>
            <translation>전문가</translation>
        </message>
        <message>
            <source>experts of {} on the disk</source>
            <translation>디스크의 전문가 {}</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>other chats</source>
            <translation>다른 대화</translation>
        </message>
        <message>
            <source>slots for streamed layers</source>
            <translation>스트리밍 레이어용 슬롯</translation>
        </message>
        <message>
            <source>target</source>
            <translation>타깃</translation>
        </message>
        <message>
            <source>target KV cache</source>
            <translation>타깃 KV 캐시</translation>
        </message>
        <message>
            <source>{} read from the disk in every pass</source>
            <translation>패스마다 디스크에서 {} 읽음</translation>
        </message>
    </context>
    <context>
        <name>model_file</name>
        <message>
            <source>Models (*.gguf config.json)</source>
            <translation>모델 (*.gguf config.json)</translation>
        </message>
        <message>
            <source>Open model</source>
            <translation>모델 열기</translation>
        </message>
    </context>
    <context>
        <name>node_words</name>
        <message>
            <source>Accepted.</source>
            <translation>채택됨.</translation>
        </message>
        <message>
            <source>Draft {}, target {} (rank {}).</source>
            <translation>드래프트 {}, 타깃 {} (순위 {}).</translation>
        </message>
        <message>
            <source>Draft {}.</source>
            <translation>드래프트 {}.</translation>
        </message>
        <message>
            <source>Not verified yet.</source>
            <translation>아직 검증되지 않음.</translation>
        </message>
        <message>
            <source>Proposed while the target verified the tree before.</source>
            <translation>타깃이 앞 트리를 검증하는 동안 제안되었습니다.</translation>
        </message>
        <message>
            <source>Rejected: its parent was rejected.</source>
            <translation>거부됨: 부모가 거부되었음.</translation>
        </message>
        <message>
            <source>Rejected: the answer ended before it.</source>
            <translation>거부됨: 그 전에 답변이 끝났음.</translation>
        </message>
        <message>
            <source>Rejected: the target chose “{}”.</source>
            <translation>거부됨: 타깃은 “{}”을(를) 골랐음.</translation>
        </message>
        <message>
            <source>The target's own choice, from the same pass that verified the tree.</source>
            <translation>타깃이 직접 고른 토큰. 트리를 검증한 패스에서 함께 나왔습니다.</translation>
        </message>
        <message>
            <source>The target's own choice, with a probability of {}.</source>
            <translation>타깃이 직접 고른 토큰. 확률 {}.</translation>
        </message>
        <message>
            <source>draft model</source>
            <translation>드래프트 모델</translation>
        </message>
        <message>
            <source>heads</source>
            <translation>헤드</translation>
        </message>
        <message>
            <source>less than 0.1 %</source>
            <translation>0.1% 미만</translation>
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
        <message>
            <source>unknown</source>
            <translation>알 수 없음</translation>
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
            <source>“{}”: the last token of the text so far. The tree grows from it.</source>
            <translation>“{}”: 지금까지 텍스트의 마지막 토큰. 여기서 트리가 자랍니다.</translation>
        </message>
    </context>
    <context>
        <name>outline</name>
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
        <name>program_options</name>
        <message>
            <source>16 bits</source>
            <translation>16비트</translation>
        </message>
        <message>
            <source>8 bits</source>
            <translation>8비트</translation>
        </message>
        <message>
            <source>8 bits take about half the memory of 16 bits and are a little less precise. Only on the processor.</source>
            <translation>8비트는 16비트의 절반 정도의 메모리를 쓰며 조금 덜 정확합니다. 프로세서에서만 쓸 수 있습니다.</translation>
        </message>
        <message>
            <source>After 15 minutes</source>
            <translation>15분 후</translation>
        </message>
        <message>
            <source>After 5 minutes</source>
            <translation>5분 후</translation>
        </message>
        <message>
            <source>After an hour</source>
            <translation>1시간 후</translation>
        </message>
        <message>
            <source>Appearance and language</source>
            <translation>모양과 언어</translation>
        </message>
        <message>
            <source>As stored</source>
            <translation>저장된 그대로</translation>
        </message>
        <message>
            <source>Automatic</source>
            <translation>자동</translation>
        </message>
        <message>
            <source>Automatic: on the processor, weights as stored times activations in 8 bits, the fastest. float32 is the most precise and the slowest.</source>
            <translation>자동: 프로세서에서는 저장된 그대로의 가중치에 8비트 활성값을 곱하며 가장 빠릅니다. float32는 가장 정확하고 가장 느립니다.</translation>
        </message>
        <message>
            <source>Behaviour</source>
            <translation>동작</translation>
        </message>
        <message>
            <source>Break long lines of code instead of scrolling them sideways.</source>
            <translation>긴 코드 줄을 옆으로 스크롤하는 대신 줄을 바꿉니다.</translation>
        </message>
        <message>
            <source>Chats on the disk</source>
            <translation>디스크에 보관할 대화</translation>
        </message>
        <message>
            <source>Computation</source>
            <translation>연산</translation>
        </message>
        <message>
            <source>Compute device</source>
            <translation>연산 장치</translation>
        </message>
        <message>
            <source>Context in memory</source>
            <translation>메모리의 컨텍스트</translation>
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation>Ctrl+Enter</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>어둡게</translation>
        </message>
        <message>
            <source>Enter</source>
            <translation>Enter</translation>
        </message>
        <message>
            <source>Font of code</source>
            <translation>코드 글꼴</translation>
        </message>
        <message>
            <source>Font of messages</source>
            <translation>메시지 글꼴</translation>
        </message>
        <message>
            <source>Frees the memory when nothing was asked for this long. The next question loads the model again.</source>
            <translation>이 시간 동안 질문이 없으면 메모리를 비웁니다. 다음에 질문하면 모델을 다시 불러옵니다.</translation>
        </message>
        <message>
            <source>GiB</source>
            <translation>GiB</translation>
        </message>
        <message>
            <source>Graphics card</source>
            <translation>그래픽 카드</translation>
        </message>
        <message>
            <source>High contrast</source>
            <translation>고대비</translation>
        </message>
        <message>
            <source>If it is faster</source>
            <translation>더 빠르면</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>언어</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>밝게</translation>
        </message>
        <message>
            <source>Look once a day for a newer version. It is downloaded when you ask for it, and opens at the next start.</source>
            <translation>하루에 한 번 새 버전이 있는지 확인합니다. 요청할 때만 다운로드하며, 다음에 시작할 때 열립니다.</translation>
        </message>
        <message>
            <source>Maximum RAM for the target's weights. The rest is streamed from the disk.</source>
            <translation>타깃의 가중치에 쓸 최대 RAM. 나머지는 디스크에서 스트리밍합니다.</translation>
        </message>
        <message>
            <source>Maximum VRAM for the target's weights, streaming buffers included. The rest is streamed from RAM.</source>
            <translation>타깃의 가중치에 쓸 최대 VRAM(스트리밍 버퍼 포함). 나머지는 RAM에서 스트리밍합니다.</translation>
        </message>
        <message>
            <source>Memory limits</source>
            <translation>메모리 한도</translation>
        </message>
        <message>
            <source>Never</source>
            <translation>안 함</translation>
        </message>
        <message>
            <source>No limit</source>
            <translation>한도 없음</translation>
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
            <source>Number of threads that compute on the processor, at most one for each physical core. It changes the speed, never the text.</source>
            <translation>프로세서에서 계산하는 스레드 수. 물리 코어당 최대 하나입니다. 속도만 달라지고 텍스트는 달라지지 않습니다.</translation>
        </message>
        <message>
            <source>One per core</source>
            <translation>코어당 하나</translation>
        </message>
        <message>
            <source>Other chats in RAM</source>
            <translation>RAM에 보관할 다른 대화</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>프로세서</translation>
        </message>
        <message>
            <source>Processor helps the card</source>
            <translation>프로세서가 그래픽 카드를 도움</translation>
        </message>
        <message>
            <source>RAM for the target</source>
            <translation>타깃에 쓸 RAM</translation>
        </message>
        <message>
            <source>Reduce motion</source>
            <translation>움직임 줄이기</translation>
        </message>
        <message>
            <source>Same as desktop</source>
            <translation>데스크톱과 같게</translation>
        </message>
        <message>
            <source>Send with</source>
            <translation>전송 키</translation>
        </message>
        <message>
            <source>Show a notification when a long answer is complete and the window is not in front.</source>
            <translation>긴 답변이 끝났고 창이 앞에 있지 않으면 알림을 표시합니다.</translation>
        </message>
        <message>
            <source>Text size</source>
            <translation>글자 크기</translation>
        </message>
        <message>
            <source>The colours of the window.</source>
            <translation>창의 색.</translation>
        </message>
        <message>
            <source>The device that computes the answers.</source>
            <translation>답변을 계산하는 장치.</translation>
        </message>
        <message>
            <source>The font of code in answers.</source>
            <translation>답변에 있는 코드의 글꼴입니다.</translation>
        </message>
        <message>
            <source>The font of questions and answers.</source>
            <translation>질문과 답변의 글꼴입니다.</translation>
        </message>
        <message>
            <source>The language of the window. Models answer in the language you write in.</source>
            <translation>창의 언어. 모델은 사용자가 쓰는 언어로 답합니다.</translation>
        </message>
        <message>
            <source>The other key starts a new line.</source>
            <translation>다른 키는 줄을 바꿉니다.</translation>
        </message>
        <message>
            <source>The size of all text; 100% is the desktop's. Ctrl and the wheel change it too.</source>
            <translation>모든 글자의 크기입니다. 100%는 데스크톱의 크기입니다. Ctrl과 휠로도 바꿀 수 있습니다.</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>테마</translation>
        </message>
        <message>
            <source>Threads</source>
            <translation>스레드</translation>
        </message>
        <message>
            <source>Turn animations off. The token tree shows only the end of each iteration.</source>
            <translation>애니메이션을 끕니다. 토큰 트리는 각 반복의 끝만 보여 줍니다.</translation>
        </message>
        <message>
            <source>Unload when idle</source>
            <translation>유휴 시 내리기</translation>
        </message>
        <message>
            <source>Unpacked</source>
            <translation>풀어 놓음</translation>
        </message>
        <message>
            <source>Unpacked weights are faster but need more memory.</source>
            <translation>풀어 놓은 가중치는 더 빠르지만 메모리가 더 필요합니다.</translation>
        </message>
        <message>
            <source>Updates</source>
            <translation>업데이트</translation>
        </message>
        <message>
            <source>VRAM for the target</source>
            <translation>타깃에 쓸 VRAM</translation>
        </message>
        <message>
            <source>Weights in RAM need not all go to the graphics card in each pass: the processor can compute with a share of them, a little less precisely. Automatic: with the experts of a mixture, where that should be faster. Otherwise, loading measures whether it is.</source>
            <translation>RAM에 있는 가중치가 패스마다 모두 그래픽 카드로 갈 필요는 없습니다. 프로세서가 그 일부를 조금 덜 정밀하게 계산할 수 있습니다. 자동: 전문가 혼합 모델의 전문가만, 더 빠를 것으로 예측될 때 계산합니다. 그 밖에는 더 빠른지 불러올 때 측정합니다.</translation>
        </message>
        <message>
            <source>Weights in memory</source>
            <translation>메모리의 가중치</translation>
        </message>
        <message>
            <source>What has been computed of chats is also kept on the disk, so that they are not read anew after a restart. It contains what you wrote; it is deleted with its chat.</source>
            <translation>대화에서 계산한 내용을 디스크에도 보관하여, 다시 시작한 뒤에도 대화를 다시 읽지 않습니다. 사용자가 쓴 내용이 들어 있으며, 대화를 삭제하면 함께 삭제됩니다.</translation>
        </message>
        <message>
            <source>What has been computed of other chats is kept in RAM, so that they are not read anew when you return to them. 0 keeps nothing.</source>
            <translation>다른 대화에서 계산한 내용을 RAM에 보관하여, 그 대화로 돌아왔을 때 다시 읽지 않습니다. 0이면 보관하지 않습니다.</translation>
        </message>
        <message>
            <source>Wrap code</source>
            <translation>코드 줄바꿈</translation>
        </message>
    </context>
    <context>
        <name>race_picture</name>
        <message>
            <source>SpecExec Desktop · {} · {} · times from the first token, each answer alone</source>
            <translation>SpecExec Desktop · {} · {} · 첫 토큰부터 잰 시간, 답변마다 따로 실행</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>초</translation>
        </message>
        <message>
            <source>tokens</source>
            <translation>토큰</translation>
        </message>
        <message>
            <source>tokens per pass</source>
            <translation>패스당 토큰</translation>
        </message>
        <message>
            <source>tokens/s</source>
            <translation>토큰/초</translation>
        </message>
        <message>
            <source>{} s</source>
            <translation>{}초</translation>
        </message>
    </context>
    <context>
        <name>race_words</name>
        <message>
            <source>Plain decoding</source>
            <translation>일반 디코딩</translation>
        </message>
        <message>
            <source>Same text: no. After {} tokens, “{}” stands against “{}”.</source>
            <translation>같은 글: 아니요. 토큰 {}개 뒤에 “{}”와(과) “{}”(으)로 갈립니다.</translation>
        </message>
        <message>
            <source>Same text: yes, all {} tokens.</source>
            <translation>같은 글: 예, 토큰 {}개 모두.</translation>
        </message>
        <message>
            <source>Same text: yes, up to the {} tokens of the shorter answer.</source>
            <translation>같은 글: 예, 짧은 답변의 토큰 {}개까지.</translation>
        </message>
        <message>
            <source>SpecExec</source>
            <translation>SpecExec</translation>
        </message>
        <message>
            <source>SpecExec was {} times as fast</source>
            <translation>SpecExec이 일반 디코딩보다 {}배 빨랐습니다</translation>
        </message>
        <message>
            <source>The answers are too short to compare their speed.</source>
            <translation>답변이 너무 짧아 속도를 비교할 수 없습니다.</translation>
        </message>
        <message>
            <source>Two models, two texts.</source>
            <translation>모델이 둘이므로 글도 둘입니다.</translation>
        </message>
        <message>
            <source>With 16-bit numbers, two tokens can be equally probable up to rounding, and a pass over a whole tree rounds differently from a pass over one token. Either choice is the model's own.</source>
            <translation>16비트 수에서는 두 토큰의 확률이 반올림 오차 안에서 같을 수 있고, 트리 전체에 대한 패스는 토큰 하나에 대한 패스와 반올림이 다릅니다. 어느 쪽이든 모델 자신의 선택입니다.</translation>
        </message>
        <message>
            <source>drafter: {}</source>
            <translation>드래프터: {}</translation>
        </message>
        <message>
            <source>drafter: {}, draft: {}</source>
            <translation>드래프터: {}, 드래프트: {}</translation>
        </message>
        <message>
            <source>one token per pass</source>
            <translation>패스당 토큰 하나</translation>
        </message>
        <message>
            <source>{} was {} times as fast as {}</source>
            <translation>{}이(가) {}배 빠름 (비교 대상: {})</translation>
        </message>
        <message>
            <source>{}: {} tokens in {} s</source>
            <translation>{}: {}토큰, {}초</translation>
        </message>
    </context>
    <context>
        <name>remarks</name>
        <message>
            <source>An answer of the target ends with {}, one of the draft with {}.</source>
            <translation>답변을 끝내는 토큰이 다릅니다. 타깃: {}, 드래프트: {}.</translation>
        </message>
        <message>
            <source>Answers stay right, but more of the draft's guesses are wrong. Another draft may be faster.</source>
            <translation>답변은 그대로 정확하지만, 드래프트의 추측이 더 자주 빗나갑니다. 다른 드래프트가 더 빠를 수 있습니다.</translation>
        </message>
        <message>
            <source>Answers stay right. After an update of its driver, the graphics card is checked anew.</source>
            <translation>답변은 그대로 정확합니다. 드라이버를 업데이트하면 그래픽 카드를 다시 검사합니다.</translation>
        </message>
        <message>
            <source>Ask in other words, or choose another model.</source>
            <translation>다른 말로 물어보거나 다른 모델을 선택하세요.</translation>
        </message>
        <message>
            <source>Close other programs to free memory, then load the model again.</source>
            <translation>다른 프로그램을 닫아 메모리를 확보한 뒤 모델을 다시 불러오세요.</translation>
        </message>
        <message>
            <source>Close other programs, or set a smaller “Other chats in RAM” in the settings.</source>
            <translation>다른 프로그램을 닫거나, 설정에서 “RAM에 보관할 다른 대화”를 더 작게 정하세요.</translation>
        </message>
        <message>
            <source>Close other programs, or set a smaller “RAM for the target” in the settings.</source>
            <translation>다른 프로그램을 닫거나, 설정에서 “타깃에 쓸 RAM”을 더 작게 정하세요.</translation>
        </message>
        <message>
            <source>Draft and target took turns: the draft cannot go on while this target verifies on the graphics card.</source>
            <translation>드래프트와 타깃이 번갈아 실행되었습니다. 이 타깃이 그래픽 카드에서 검증하는 동안에는 드래프트가 계속할 수 없습니다.</translation>
        </message>
        <message>
            <source>Draft and target took turns: the drafter {} keeps no tree beyond the verdict.</source>
            <translation>드래프트와 타깃이 번갈아 실행되었습니다. 드래프터 {}은(는) 검증이 끝나면 트리를 유지하지 않습니다.</translation>
        </message>
        <message>
            <source>Draft and target took turns: the target is wholly in memory, so that it never waits for weights while the draft could go on.</source>
            <translation>드래프트와 타깃이 번갈아 실행되었습니다. 타깃이 모두 메모리에 있어, 가중치를 기다리며 드래프트에 차례를 내줄 때가 없습니다.</translation>
        </message>
        <message>
            <source>If its answers make no sense, choose another model.</source>
            <translation>답변이 말이 되지 않으면 다른 모델을 선택하세요.</translation>
        </message>
        <message>
            <source>If you do not need them, turn “Log-probabilities” off in this chat's settings.</source>
            <translation>필요하지 않으면 이 대화의 설정에서 “로그 확률”을 끄세요.</translation>
        </message>
        <message>
            <source>It does without its draft heads.</source>
            <translation>초안을 작성하는 헤드는 쓰지 않습니다.</translation>
        </message>
        <message>
            <source>It does without its own layer for drafts.</source>
            <translation>초안을 작성하는 자체 레이어는 쓰지 않습니다.</translation>
        </message>
        <message>
            <source>It sees no pictures and hears no sound: describe them in words.</source>
            <translation>그림을 보거나 소리를 듣지 못하므로, 말로 설명해 주세요.</translation>
        </message>
        <message>
            <source>Its layers: {}. Its context: {} tokens.</source>
            <translation>레이어: {}. 컨텍스트: 토큰 {}개.</translation>
        </message>
        <message>
            <source>Load another model, delete this one in the settings, then download it again.</source>
            <translation>다른 모델을 불러온 다음, 설정에서 이 모델을 삭제하고 다시 다운로드하세요.</translation>
        </message>
        <message>
            <source>Memory ran out, so other chats are read anew when you go on with them.</source>
            <translation>메모리가 부족해져, 다른 대화를 이어 갈 때는 그 내용을 새로 읽습니다.</translation>
        </message>
        <message>
            <source>Memory ran out, so the model was loaded by a smaller plan.</source>
            <translation>메모리가 부족해져 모델을 더 작은 구성으로 불러왔습니다.</translation>
        </message>
        <message>
            <source>Only {} of RAM is free for weights, less than the limit of {}.</source>
            <translation>가중치에 쓸 수 있는 RAM이 {}뿐이어서, 설정한 한도 {}보다 적습니다.</translation>
        </message>
        <message>
            <source>So the processor runs the model.</source>
            <translation>그래서 프로세서가 모델을 실행합니다.</translation>
        </message>
        <message>
            <source>Special tokens differ: token {} is {} in the target and {} in the draft.</source>
            <translation>특수 토큰이 다릅니다. 토큰 {}번이 타깃에서는 {}, 드래프트에서는 {}입니다.</translation>
        </message>
        <message>
            <source>Special tokens that only one of the two models has: {}; the first is {}.</source>
            <translation>타깃과 드래프트 중 한쪽에만 있는 특수 토큰: {}개. 첫 번째는 {}입니다.</translation>
        </message>
        <message>
            <source>The draft has no chat template: it was not trained on conversations.</source>
            <translation>드래프트에는 대화 템플릿이 없습니다. 대화로 학습되지 않은 모델입니다.</translation>
        </message>
        <message>
            <source>The draft splits text into different tokens than the target.</source>
            <translation>드래프트는 텍스트를 타깃과 다른 토큰으로 나눕니다.</translation>
        </message>
        <message>
            <source>The draft was trained with a different chat template than the target.</source>
            <translation>드래프트는 타깃과 다른 대화 템플릿으로 학습되었습니다.</translation>
        </message>
        <message>
            <source>The graphics card cannot be used now.</source>
            <translation>지금은 그래픽 카드를 쓸 수 없습니다.</translation>
        </message>
        <message>
            <source>The graphics card's memory ran out, so the model was loaded by a smaller plan.</source>
            <translation>그래픽 카드의 메모리가 부족해져 모델을 더 작은 구성으로 불러왔습니다.</translation>
        </message>
        <message>
            <source>The next load tries it again. If that does not help, restart the computer.</source>
            <translation>다음에 불러올 때 다시 시도합니다. 그래도 되지 않으면 컴퓨터를 다시 시작하세요.</translation>
        </message>
        <message>
            <source>The server told the probabilities of {} of {} tokens only.</source>
            <translation>서버가 토큰 {1}개 중 {0}개의 확률만 알려 주었습니다.</translation>
        </message>
        <message>
            <source>The server withheld a part of the answer.</source>
            <translation>서버가 답변의 일부를 내보내지 않았습니다.</translation>
        </message>
        <message>
            <source>The target has no chat template, but the draft was trained with one.</source>
            <translation>타깃에는 대화 템플릿이 없지만, 드래프트는 대화 템플릿으로 학습되었습니다.</translation>
        </message>
        <message>
            <source>The text is the same. There is nothing to do.</source>
            <translation>답변의 내용은 같습니다. 따로 하실 일은 없습니다.</translation>
        </message>
        <message>
            <source>Tokens that only one of the two models treats as special: {}; the first is {}.</source>
            <translation>타깃과 드래프트 중 한쪽만 특수 토큰으로 다루는 토큰: {}개. 첫 번째는 {}입니다.</translation>
        </message>
        <message>
            <source>Update the driver of the graphics card: the next load then checks the card anew.</source>
            <translation>그래픽 카드의 드라이버를 업데이트하세요. 다음에 불러올 때 카드를 다시 검사합니다.</translation>
        </message>
        <message>
            <source>no token</source>
            <translation>토큰 없음</translation>
        </message>
        <message>
            <source>{} has an architecture that is not listed, {}. A small random model of it was tested, and computes what it should.</source>
            <translation>{0}의 아키텍처 {1}은(는) 목록에 없습니다. 같은 구조의 작은 무작위 모델로 시험했고, 계산 결과가 맞았습니다.</translation>
        </message>
        <message>
            <source>{} in RAM</source>
            <translation>RAM에 {}개</translation>
        </message>
        <message>
            <source>{} in VRAM</source>
            <translation>VRAM에 {}개</translation>
        </message>
        <message>
            <source>{} is probably damaged: in {} of its {} weights, such as {}, all numbers are the same. Its answers may make no sense.</source>
            <translation>{0}이(가) 손상된 것 같습니다. 가중치 {2}개 중 {1}개에서 모든 수가 같습니다(예: {3}). 답변이 말이 되지 않을 수 있습니다.</translation>
        </message>
        <message>
            <source>{} on the disk</source>
            <translation>디스크에 {}개</translation>
        </message>
        <message>
            <source>{} runs as a model of text: its encoder of images or sound is not loaded.</source>
            <translation>{}은(는) 텍스트 모델로 실행됩니다. 이미지나 소리를 읽는 인코더는 불러오지 않습니다.</translation>
        </message>
        <message>
            <source>“Drafter” in this chat's settings offers others.</source>
            <translation>이 대화의 설정에 있는 “드래프터”에서 다른 것을 고를 수 있습니다.</translation>
        </message>
    </context>
    <context>
        <name>run_figures</name>
        <message>
            <source>Computing the target took the most time: the compute device is the bottleneck.</source>
            <translation>타깃 계산에 가장 오래 걸렸습니다. 연산 장치가 병목입니다.</translation>
        </message>
        <message>
            <source>Drafting took the most time: a smaller budget or a smaller draft may be faster.</source>
            <translation>초안 작성에 가장 오래 걸렸습니다. 예산을 줄이거나 더 작은 드래프트를 쓰면 빨라질 수 있습니다.</translation>
        </message>
        <message>
            <source>Most in layer {} ({} %), least in layer {} ({} %).</source>
            <translation>레이어 {}에서 가장 많고({} %) 레이어 {}에서 가장 적습니다({} %).</translation>
        </message>
        <message>
            <source>No drafter is in use, so one pass of the target produced 1 token.</source>
            <translation>드래프터를 사용하지 않으므로 타깃의 패스 하나가 토큰 1개를 만들었습니다.</translation>
        </message>
        <message>
            <source>Of these, {} per token had to be read from the disk.</source>
            <translation>이 중 토큰마다 {}은(는) 디스크에서 읽어야 했습니다.</translation>
        </message>
        <message>
            <source>One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting for weights, {} s for the rest.</source>
            <translation>반복 하나에 {}초: 초안 작성 {}초, 타깃 계산 {}초, 가중치 대기 {}초, 나머지 {}초.</translation>
        </message>
        <message>
            <source>One pass of the target produced {} tokens on average, because it verifies a whole tree of guesses at once. Plain decoding produces 1 token per pass.</source>
            <translation>추측의 트리 전체를 한꺼번에 검증하므로 타깃의 패스 하나가 평균 {}토큰을 냈습니다. 일반 디코딩은 패스당 1토큰을 냅니다.</translation>
        </message>
        <message>
            <source>One pass of the target produced {} tokens on average, hardly more than plain decoding: few guesses were right, or guessing ahead does not pay with this model on this machine and is only tried now and then.</source>
            <translation>타깃의 패스 하나가 평균 {}개의 토큰을 만들어 일반 디코딩과 거의 같았습니다. 맞은 추측이 적었거나, 이 컴퓨터에서는 이 모델로 미리 추측하는 것이 이득이 되지 않아 가끔만 시도합니다.</translation>
        </message>
        <message>
            <source>PCIe</source>
            <translation>PCIe</translation>
        </message>
        <message>
            <source>Plain decoding with this model was measured here: {} tokens/s. This answer was {} times as fast.</source>
            <translation>이 모델의 일반 디코딩을 여기서 측정했습니다: {} 토큰/초. 이 답변의 속도는 그 {}배였습니다.</translation>
        </message>
        <message>
            <source>Share of the chosen experts by which the processor multiplied, layer by layer: {}</source>
            <translation>선택된 전문가 중 프로세서가 곱한 비율(레이어별): {}</translation>
        </message>
        <message>
            <source>The answer was too short to measure its speed.</source>
            <translation>답변이 너무 짧아 속도를 측정할 수 없습니다.</translation>
        </message>
        <message>
            <source>The processor multiplied by {} % of them in RAM.</source>
            <translation>프로세서가 그중 {} %를 RAM에서 곱했습니다.</translation>
        </message>
        <message>
            <source>The speed-up over plain decoding is shown once plain decoding has been measured on this machine.</source>
            <translation>일반 디코딩보다 얼마나 빠른지는 이 컴퓨터에서 일반 디코딩을 측정한 뒤에 표시됩니다.</translation>
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
            <source>drafted {} s meanwhile</source>
            <translation>그동안 {}초 초안 작성</translation>
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
            <source>{} % of the experts that the model used ({} of {}) were in memory; {} were read from the disk per token of the answer, reading the prompt included.</source>
            <translation>모델이 사용한 전문가의 {} %({}/{})가 메모리에 있었습니다. 답변의 토큰마다 디스크에서 {}을(를) 읽었으며, 프롬프트를 읽은 양도 포함합니다.</translation>
        </message>
        <message>
            <source>{} % of the experts that the model used ({} of {}) were on the graphics card; {} were copied to it per token of the answer, reading the prompt included.</source>
            <translation>모델이 사용한 전문가의 {} %({}/{})가 그래픽 카드에 있었습니다. 답변의 토큰마다 {}을(를) 카드로 복사했으며, 프롬프트를 읽은 양도 포함합니다.</translation>
        </message>
        <message>
            <source>{} % of those copied to it were in RAM when needed, and {} % on their way there.</source>
            <translation>카드로 복사한 것 중 {} %는 필요할 때 RAM에 있었고, {} %는 RAM으로 읽는 중이었습니다.</translation>
        </message>
        <message>
            <source>{} % of those read ahead were the right ones.</source>
            <translation>미리 읽은 것 중 {} %가 맞았습니다.</translation>
        </message>
        <message>
            <source>{} % were still on their way when the model chose them.</source>
            <translation>{} %는 모델이 선택했을 때 아직 읽는 중이었습니다.</translation>
        </message>
        <message>
            <source>{} nodes from the pass before</source>
            <translation>앞 패스에서 온 노드 {}개</translation>
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
            <source>{} tokens per pass, {} × plain: see why</source>
            <translation>패스당 {}토큰, 일반 방식의 {}배: 이유 보기</translation>
        </message>
        <message>
            <source>{} tokens per pass: see why</source>
            <translation>패스당 {}토큰: 이유 보기</translation>
        </message>
        <message>
            <source>{}: {} GB/s (limit not measured: run specexec doctor)</source>
            <translation>{}: {} GB/s (한계는 측정되지 않음: specexec doctor를 실행하세요)</translation>
        </message>
        <message>
            <source>{}: {} of {} GB/s</source>
            <translation>{}: {} / {} GB/s</translation>
        </message>
    </context>
    <context>
        <name>save_dialog</name>
        <message>
            <source>Replace</source>
            <translation>바꾸기</translation>
        </message>
        <message>
            <source>{} already exists. Replace it?</source>
            <translation>{}이(가) 이미 있습니다. 바꿀까요?</translation>
        </message>
    </context>
    <context>
        <name>server_options</name>
        <message>
            <source>Also other machines, at {}</source>
            <translation>다른 컴퓨터도, {}에서</translation>
        </message>
        <message>
            <source>Only programs that give the key are answered. Without it, every program on this machine is.</source>
            <translation>키를 제시하는 프로그램에만 답변합니다. 키가 없으면 이 컴퓨터의 모든 프로그램에 답변합니다.</translation>
        </message>
        <message>
            <source>Options</source>
            <translation>옵션</translation>
        </message>
        <message>
            <source>Other machines need the key, and what they send is not encrypted: choose this in networks that you trust only.</source>
            <translation>다른 컴퓨터에는 키가 필요하며 전송 내용은 암호화되지 않습니다. 신뢰하는 네트워크에서만 선택하세요.</translation>
        </message>
        <message>
            <source>Port</source>
            <translation>포트</translation>
        </message>
        <message>
            <source>Require a key</source>
            <translation>키 요구</translation>
        </message>
        <message>
            <source>Start the server whenever the window is opened.</source>
            <translation>창을 열 때마다 서버를 시작합니다.</translation>
        </message>
        <message>
            <source>Start with the window</source>
            <translation>창과 함께 시작</translation>
        </message>
        <message>
            <source>The number at the end of the address. Programs that use the server must know it.</source>
            <translation>주소 끝의 숫자입니다. 서버를 사용하는 프로그램이 알아야 합니다.</translation>
        </message>
        <message>
            <source>This machine only</source>
            <translation>이 컴퓨터만</translation>
        </message>
        <message>
            <source>Web pages</source>
            <translation>웹 페이지</translation>
        </message>
        <message>
            <source>Web pages that may ask the server, such as http://localhost:3000. One per line.</source>
            <translation>서버에 요청할 수 있는 웹 페이지(예: http://localhost:3000). 한 줄에 하나씩.</translation>
        </message>
        <message>
            <source>Who can reach it</source>
            <translation>접근 범위</translation>
        </message>
    </context>
    <context>
        <name>shortcuts</name>
        <message>
            <source>Answer the last question again</source>
            <translation>마지막 질문에 다시 답변</translation>
        </message>
        <message>
            <source>Chat</source>
            <translation>대화</translation>
        </message>
        <message>
            <source>Choose a model</source>
            <translation>모델 선택</translation>
        </message>
        <message>
            <source>Close the window</source>
            <translation>창 닫기</translation>
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation>마지막 답변 복사</translation>
        </message>
        <message>
            <source>Delete the chat or folder</source>
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
            <source>Export the chat or folder</source>
            <translation>대화나 폴더 내보내기</translation>
        </message>
        <message>
            <source>Find in this chat</source>
            <translation>이 대화에서 찾기</translation>
        </message>
        <message>
            <source>Go to the input field</source>
            <translation>입력란으로 이동</translation>
        </message>
        <message>
            <source>Go to the list of chats</source>
            <translation>대화 목록으로 이동</translation>
        </message>
        <message>
            <source>Input field</source>
            <translation>입력란</translation>
        </message>
        <message>
            <source>Larger text</source>
            <translation>글자 크게</translation>
        </message>
        <message>
            <source>List of chats</source>
            <translation>대화 목록</translation>
        </message>
        <message>
            <source>Next chat in the list</source>
            <translation>목록의 다음 대화</translation>
        </message>
        <message>
            <source>Next match</source>
            <translation>다음 일치 항목</translation>
        </message>
        <message>
            <source>Next version</source>
            <translation>다음 버전</translation>
        </message>
        <message>
            <source>Open another window</source>
            <translation>다른 창 열기</translation>
        </message>
        <message>
            <source>Open the chat in a new window</source>
            <translation>대화를 새 창에서 열기</translation>
        </message>
        <message>
            <source>Pin or unpin the chat</source>
            <translation>대화를 고정하거나 고정 해제</translation>
        </message>
        <message>
            <source>Previous chat in the list</source>
            <translation>목록의 이전 대화</translation>
        </message>
        <message>
            <source>Previous match</source>
            <translation>이전 일치 항목</translation>
        </message>
        <message>
            <source>Previous version</source>
            <translation>이전 버전</translation>
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
            <source>Race: plain decoding against SpecExec, or two models</source>
            <translation>경주: 일반 디코딩 대 SpecExec, 또는 두 모델</translation>
        </message>
        <message>
            <source>Rename the chat or folder</source>
            <translation>대화나 폴더의 이름 바꾸기</translation>
        </message>
        <message>
            <source>Scroll the chat</source>
            <translation>대화 스크롤</translation>
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
            <source>Show all keyboard shortcuts</source>
            <translation>모든 단축키 표시</translation>
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
            <source>Smaller text</source>
            <translation>글자 작게</translation>
        </message>
        <message>
            <source>Start a new chat</source>
            <translation>새 대화 시작</translation>
        </message>
        <message>
            <source>Start a new line</source>
            <translation>줄바꿈</translation>
        </message>
        <message>
            <source>Stop the answer and keep its text, or cancel loading</source>
            <translation>답변을 중지하고 텍스트는 유지, 또는 불러오기 취소</translation>
        </message>
        <message>
            <source>Text in its usual size</source>
            <translation>글자를 기본 크기로</translation>
        </message>
        <message>
            <source>Undo the last action</source>
            <translation>마지막 작업 실행 취소</translation>
        </message>
        <message>
            <source>Window</source>
            <translation>창</translation>
        </message>
    </context>
    <context>
        <name>startup</name>
        <message>
            <source>Quit</source>
            <translation>끝내기</translation>
        </message>
        <message>
            <source>Show the folder</source>
            <translation>폴더 보기</translation>
        </message>
        <message>
            <source>Something went wrong in the window.</source>
            <translation>창에서 문제가 생겼습니다.</translation>
        </message>
        <message>
            <source>Start with the default settings</source>
            <translation>기본 설정으로 시작</translation>
        </message>
        <message>
            <source>Start without the chats</source>
            <translation>대화 없이 시작</translation>
        </message>
        <message>
            <source>The chats cannot be opened.</source>
            <translation>대화를 열 수 없습니다.</translation>
        </message>
        <message>
            <source>The program cannot start.</source>
            <translation>프로그램을 시작할 수 없습니다.</translation>
        </message>
        <message>
            <source>The settings cannot be opened.</source>
            <translation>설정을 열 수 없습니다.</translation>
        </message>
        <message>
            <source>The window cannot be opened.</source>
            <translation>창을 열 수 없습니다.</translation>
        </message>
        <message>
            <source>You can continue. If it happens again, see the log: {}</source>
            <translation>계속 사용할 수 있습니다. 다시 생기면 로그를 확인하세요: {}</translation>
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
        <name>told</name>
        <message>
            <source>Accepted by position: {}</source>
            <translation>위치별 수락률: {}</translation>
        </message>
        <message>
            <source>It answers at {}.</source>
            <translation>{}에서 답변합니다.</translation>
        </message>
        <message>
            <source>It drafted no tokens.</source>
            <translation>제안된 토큰이 없습니다.</translation>
        </message>
        <message>
            <source>It says nothing about speculation.</source>
            <translation>추측 디코딩에 대해서는 알려 주지 않습니다.</translation>
        </message>
        <message>
            <source>On average, {} drafted tokens were accepted in each of {} steps.</source>
            <translation>평균 {}개의 제안 토큰이 {}개 단계마다 수락되었습니다.</translation>
        </message>
        <message>
            <source>Step {}: {} of {} drafted tokens accepted.</source>
            <translation>{}단계: 제안된 토큰 중 {} / {}개 수락.</translation>
        </message>
        <message>
            <source>The answer came from {} with {} tokens/s, the way through the network included.</source>
            <translation>답변은 {}에서 초당 {}토큰으로 왔습니다(네트워크 구간 포함).</translation>
        </message>
        <message>
            <source>These are counts of the whole server, in which answers to others may be contained.</source>
            <translation>서버 전체의 수치이므로 다른 사용자에 대한 답변이 포함될 수 있습니다.</translation>
        </message>
        <message>
            <source>This engine does not tell its tree.</source>
            <translation>이 엔진은 트리를 알려 주지 않습니다.</translation>
        </message>
        <message>
            <source>Tokens per pass: {}.</source>
            <translation>패스당 토큰: {}.</translation>
        </message>
        <message>
            <source>{} of {} drafted tokens were accepted ({} %).</source>
            <translation>제안된 토큰 중 {} / {}개가 수락되었습니다({} %).</translation>
        </message>
        <message>
            <source>{}: {} %</source>
            <translation>{}: {} %</translation>
        </message>
    </context>
    <context>
        <name>transfer</name>
        <message>
            <source>All files (*)</source>
            <translation>모든 파일 (*)</translation>
        </message>
        <message>
            <source>Backups (*.sqlite)</source>
            <translation>백업 (*.sqlite)</translation>
        </message>
        <message>
            <source>Bring back chats from a backup</source>
            <translation>백업에서 대화 되살리기</translation>
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
            <source>Import chats from SpecExec Desktop or ChatGPT</source>
            <translation>SpecExec Desktop 또는 ChatGPT의 대화 가져오기</translation>
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
        <name>wizard</name>
        <message>
            <source>A mixture of experts: it answers faster here than the largest other model.</source>
            <translation>전문가 혼합 모델입니다. 이 컴퓨터에서 다른 가장 큰 모델보다 빠르게 답합니다.</translation>
        </message>
        <message>
            <source>About {} tokens/s, estimated</source>
            <translation>약 {} 토큰/초, 추정</translation>
        </message>
        <message>
            <source>About {} tokens/s, first word after {}.</source>
            <translation>약 {} 토큰/초, 첫 단어까지 {}.</translation>
        </message>
        <message>
            <source>After a long question, the first word appears after about {}.</source>
            <translation>긴 질문에는 첫 단어가 약 {} 뒤에 나옵니다.</translation>
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
            <source>It fits in memory.</source>
            <translation>메모리에 들어갑니다.</translation>
        </message>
        <message>
            <source>It fits on the graphics card.</source>
            <translation>그래픽 카드에 들어갑니다.</translation>
        </message>
        <message>
            <source>It is larger than memory, so part of it is read from the disk repeatedly.</source>
            <translation>메모리보다 커서 일부를 디스크에서 거듭 읽습니다.</translation>
        </message>
        <message>
            <source>It is split between the graphics card and memory.</source>
            <translation>그래픽 카드와 메모리에 나누어 둡니다.</translation>
        </message>
        <message>
            <source>Its architecture was tested with real weights.</source>
            <translation>이 모델의 아키텍처는 실제 가중치로 시험되었습니다.</translation>
        </message>
        <message>
            <source>Its architecture was tested with tiny random models only.</source>
            <translation>이 모델의 아키텍처는 아주 작은 무작위 모델로만 시험되었습니다.</translation>
        </message>
        <message>
            <source>Memory</source>
            <translation>메모리</translation>
        </message>
        <message>
            <source>Not even the smallest model runs on this machine.</source>
            <translation>이 컴퓨터에서는 가장 작은 모델도 실행되지 않습니다.</translation>
        </message>
        <message>
            <source>Streams from disk</source>
            <translation>디스크에서 스트리밍</translation>
        </message>
        <message>
            <source>The fastest model for this machine; larger ones would keep you waiting.</source>
            <translation>이 컴퓨터에서 가장 빠른 모델입니다. 더 큰 모델은 오래 기다리게 합니다.</translation>
        </message>
        <message>
            <source>The largest model that reliably answers soon and at reading speed on this machine, without reading from the disk.</source>
            <translation>디스크에서 읽지 않고도 이 컴퓨터에서 곧바로, 읽는 속도로 믿을 만하게 답하는 가장 큰 모델입니다.</translation>
        </message>
        <message>
            <source>The processor computes with some experts where they lie in memory, beside the graphics card.</source>
            <translation>일부 전문가는 프로세서가 그래픽 카드 옆에서, 메모리에 있는 그 자리에서 계산합니다.</translation>
        </message>
        <message>
            <source>The processor computes with some weights where they lie in memory, beside the graphics card.</source>
            <translation>일부 가중치는 프로세서가 그래픽 카드 옆에서, 메모리에 있는 그 자리에서 계산합니다.</translation>
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
            <source>see the model's page</source>
            <translation>모델 페이지 참조</translation>
        </message>
        <message>
            <source>slow: about {} for a short answer</source>
            <translation>느림: 짧은 답변에 약 {}</translation>
        </message>
        <message>
            <source>slower than you read, but usable for a conversation</source>
            <translation>읽는 속도보다 느리지만 대화할 만함</translation>
        </message>
        <message>
            <source>{} + draft {}</source>
            <translation>{} + 드래프트 {}</translation>
        </message>
        <message>
            <source>{} has its maker's draft, {}, on this machine. The estimate is without that draft.</source>
            <translation>{} 모델을 위해 제작사가 만든 드래프트 {}이(가) 이 컴퓨터에 있습니다. 추정치는 이 드래프트 없이 계산한 것입니다.</translation>
        </message>
        <message>
            <source>{} is downloaded with its maker's draft, {}. The estimate is without that draft.</source>
            <translation>{} 모델은 제작사가 만든 드래프트 {}와(과) 함께 다운로드됩니다. 추정치는 이 드래프트 없이 계산한 것입니다.</translation>
        </message>
        <message>
            <source>{} is on this machine; its maker's draft, {}, is downloaded. The estimate is without that draft.</source>
            <translation>{} 모델은 이 컴퓨터에 있고, 제작사가 만든 드래프트 {}이(가) 다운로드됩니다. 추정치는 이 드래프트 없이 계산한 것입니다.</translation>
        </message>
        <message>
            <source>{} · account required</source>
            <translation>{} · 계정 필요</translation>
        </message>
        <message>
            <source>{}, its maker's draft for this model, is left out: {}</source>
            <translation>제작사가 이 모델용으로 만든 드래프트 {}은(는) 제외됩니다: {}</translation>
        </message>
        <message>
            <source>{}: {}.</source>
            <translation>{}: {}.</translation>
        </message>
    </context>
    <context>
        <name>words</name>
        <message>
            <source>As the model does by itself</source>
            <translation>모델의 기본값대로</translation>
        </message>
        <message>
            <source>End</source>
            <translation>종료</translation>
        </message>
        <message>
            <source>First token after</source>
            <translation>첫 토큰까지</translation>
        </message>
        <message>
            <source>Fitting the model to this machine</source>
            <translation>이 컴퓨터에 맞춰 모델을 배치하는 중</translation>
        </message>
        <message>
            <source>High</source>
            <translation>높음</translation>
        </message>
        <message>
            <source>Loading the model</source>
            <translation>모델 불러오는 중</translation>
        </message>
        <message>
            <source>Loading the small model that guesses ahead</source>
            <translation>미리 추측하는 작은 모델 불러오는 중</translation>
        </message>
        <message>
            <source>Low</source>
            <translation>낮음</translation>
        </message>
        <message>
            <source>Maximum</source>
            <translation>최대</translation>
        </message>
        <message>
            <source>Medium</source>
            <translation>중간</translation>
        </message>
        <message>
            <source>Minimal</source>
            <translation>최소</translation>
        </message>
        <message>
            <source>Model</source>
            <translation>모델</translation>
        </message>
        <message>
            <source>None (plain decoding)</source>
            <translation>없음(일반 디코딩)</translation>
        </message>
        <message>
            <source>Off</source>
            <translation>끔</translation>
        </message>
        <message>
            <source>On</source>
            <translation>켬</translation>
        </message>
        <message>
            <source>Preparing the model; this takes longer the first time</source>
            <translation>모델을 준비하는 중입니다. 처음에는 더 오래 걸립니다</translation>
        </message>
        <message>
            <source>Preparing your graphics card</source>
            <translation>그래픽 카드를 준비하는 중입니다</translation>
        </message>
        <message>
            <source>Prompt lookup</source>
            <translation>프롬프트 검색</translation>
        </message>
        <message>
            <source>Reading the model files</source>
            <translation>모델 파일 읽는 중</translation>
        </message>
        <message>
            <source>Reading the vocabulary</source>
            <translation>어휘 읽는 중</translation>
        </message>
        <message>
            <source>Seed</source>
            <translation>시드</translation>
        </message>
        <message>
            <source>Several, merged</source>
            <translation>여러 방법 결합</translation>
        </message>
        <message>
            <source>Speculative sampling</source>
            <translation>추측 샘플링</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>속도</translation>
        </message>
        <message>
            <source>Starting the libraries</source>
            <translation>라이브러리 시작 중</translation>
        </message>
        <message>
            <source>Thought</source>
            <translation>생각</translation>
        </message>
        <message>
            <source>Tokens</source>
            <translation>토큰</translation>
        </message>
        <message>
            <source>Tokens per pass</source>
            <translation>패스당 토큰</translation>
        </message>
        <message>
            <source>Very high</source>
            <translation>매우 높음</translation>
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
            <source>incomplete</source>
            <translation>완료되지 않음</translation>
        </message>
        <message>
            <source>it repeats itself</source>
            <translation>같은 말을 되풀이함</translation>
        </message>
        <message>
            <source>no draft model</source>
            <translation>드래프트 모델 없음</translation>
        </message>
        <message>
            <source>stopped by you</source>
            <translation>사용자가 중지함</translation>
        </message>
        <message>
            <source>the context is full; start a new chat (Ctrl+N)</source>
            <translation>컨텍스트가 가득 참, 새 대화를 시작하세요 (Ctrl+N)</translation>
        </message>
        <message>
            <source>{} at {}</source>
            <translation>{} ({})</translation>
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
            <source>{} heads</source>
            <translation>{} 헤드</translation>
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
            <source>{} tokens in {}</source>
            <translation>{}토큰, {}</translation>
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
            <source>{}: {} of {}</source>
            <translation>{}: {} / {}</translation>
        </message>
    </context>
</TS>
